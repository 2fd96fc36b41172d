/* How long the SLURM job that we are in may still run, where its environment does not tell (before SLURM 23.02): asked
 * of `squeue`, without ever waiting for it. */
#ifndef SF_APP_SLURM_END_H
#define SF_APP_SLURM_END_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct sf_slurm_question {
    pid_t pid; /* of squeue; 0: nothing is asked */
    int fd;    /* its standard output */
    size_t n;
    char text[64];
} sf_slurm_question;

/* Asks, inside a job of that number (digits; NULL: no job). Where there is no squeue nothing is asked. */
void sf_slurm_ask(sf_slurm_question *question, const char *job);

/* True once: when the answer has come and is a time; *left_s are the seconds left. Looks and returns at once. */
bool sf_slurm_answered(sf_slurm_question *question, double *left_s);

/* Ends what is still asked. */
void sf_slurm_forget(sf_slurm_question *question);

#endif
