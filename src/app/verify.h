/* The checks of `starfold verify` that need no counting. SF_ECHECK with the first difference by name. */
#ifndef SF_APP_VERIFY_H
#define SF_APP_VERIFY_H

#include <stdint.h>

#include "io/run_file.h"

typedef struct sf_verified {
    uint64_t n_sequences, n_populations, n_levels; /* checked */
} sf_verified;

/* Trajectories against the populations that the file holds: every one with --keep-populations, else the last. */
int sf_verify_populations(const sf_run_data *data, sf_verified *verified, sf_error *err);

/* Levels against the best sequences found again; each solution is a walk of its chain that earns its star. */
int sf_verify_levels(const sf_problem *problem, const sf_run_data *data, sf_verified *verified, sf_error *err);

#endif
