/* What would be done, before it is done: engine, memory, time. */
#ifndef SF_APP_EXPLAIN_H
#define SF_APP_EXPLAIN_H

#include "app/app.h"

/* Collective. Prints every engine's estimate for n sequences of the problem, and which one would be taken. */
int sf_explain(const sf_app *app, const sf_problem *problem, size_t n, sf_error *err);

/* The same for work that takes `beside` bytes beside the engine, on rank 0; `refused`: the line with which it would be refused,
 * or "". */
int sf_explain_beside(const sf_app *app, const sf_problem *problem, size_t n, uint64_t beside, const char *refused,
                      sf_error *err);

/* SF_ELIMIT when --refuse-over was given and `what` would take longer. */
int sf_refuse_seconds(const sf_app *app, const char *what, double seconds, sf_error *err);

/* SF_ELIMIT when --refuse-over was given and the estimate for n sequences is above it. */
int sf_refuse_over(const sf_app *app, const sf_problem *problem, size_t n, sf_error *err);

/* The same for the last of several problems, of which the others take *before_s, where only a share of the work, 0 to 1, is
 * left for the engine of that name that began it ("": what the options say). Adds what it takes to *before_s. */
int sf_refuse_rest_over(const sf_app *app, const sf_problem *problem, size_t n, const char *engine, double left,
                        double *before_s, sf_error *err);

#endif
