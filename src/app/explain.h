/* What would be done, before it is done: engine, memory, time. */
#ifndef SF_APP_EXPLAIN_H
#define SF_APP_EXPLAIN_H

#include "app/app.h"

/* Collective. Prints every engine's estimate for n sequences of the problem, and which one would be taken. What would be
 * refused, for want of memory or by --refuse-over, fails as it would without --explain, once that is printed. */
int sf_explain(const sf_app *app, const sf_problem *problem, size_t n, sf_error *err);

/* The same for one of several problems, which all are held against --refuse-over: *before_s is what those before it take,
 * to which it adds its own. It takes `beside` bytes beside the engine; `refused`: why it would be refused already, or of
 * code 0. */
int sf_explain_beside(const sf_app *app, const sf_problem *problem, size_t n, double *before_s, uint64_t beside,
                      const sf_error *refused, sf_error *err);

/* SF_ELIMIT when --refuse-over was given and `what` would take longer. */
int sf_refuse_seconds(const sf_app *app, const char *what, double seconds, sf_error *err);

/* SF_ELIMIT when --refuse-over was given and the estimate for n sequences is above it. */
int sf_refuse_over(const sf_app *app, const sf_problem *problem, size_t n, sf_error *err);

/* The same for the last of several problems, of which the others take *before_s, where only a share of the work, 0 to 1, is
 * left for the engine of that name that began it ("": what the options say). Adds what it takes to *before_s. */
int sf_refuse_rest_over(const sf_app *app, const sf_problem *problem, size_t n, const char *engine, double left,
                        double *before_s, sf_error *err);

#endif
