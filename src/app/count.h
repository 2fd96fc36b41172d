/* Counts the sequences of a list, within --max-seconds when that is given. */
#ifndef SF_APP_COUNT_H
#define SF_APP_COUNT_H

#include "app/sequences.h"

/* Refuses what --refuse-over forbids. Fills histogram and engine of every group. What the time limit left open is
 * marked: SF_COUNT_UNKNOWN, but for the score of the straight walk. With --max-seconds the clock goes on, for who looks for
 * examples then: sf_stop_end. Collective; every rank returns the same code. */
int sf_count_sequences(const sf_app *app, sf_sequence_list *list, sf_error *err);

#endif
