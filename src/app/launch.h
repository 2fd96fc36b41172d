/* How this process was launched: what the machine gives it, and what the ranks together make of it. */
#ifndef SF_APP_LAUNCH_H
#define SF_APP_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "app/app.h"

enum { SF_CPUS_MAX = 1024, SF_HOST_SIZE = 64 };

/* One rank, as every rank sees it. */
typedef struct sf_launch_rank {
    char host[SF_HOST_SIZE];
    pid_t pid;
    uint64_t memory; /* bytes it could take if it were alone on its host */
    int threads;
    int n_cpus;                      /* that it may use */
    uint32_t cpus[SF_CPUS_MAX / 32]; /* a bit for each */
} sf_launch_rank;

/* Brings together what all ranks are; *ranks [size] belongs to the caller. Collective. */
int sf_launch_gather(const sf_app *app, sf_launch_rank **ranks, sf_error *err);

/* Memory that every rank may take when all take the same: the least of what their hosts give, shared among the ranks
 * there. Collective. */
int sf_launch_memory(const sf_app *app, uint64_t *bytes, sf_error *err);

/* The cores a rank may use, as "0-3,8", cut to fit. */
void sf_launch_cpus_text(const sf_launch_rank *rank, size_t size, char *text);

/* Cores that the control group allows (in hundredths), or 0 for no limit. */
int64_t sf_launch_cpu_limit(void);

#endif
