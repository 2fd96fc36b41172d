/* Preloaded into the program under test: its monotonic clock runs CLOCK_RATE times as fast, so that what comes by the
 * minute can be tried in milliseconds. Whatever takes time seems to take that much longer. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static int (*real)(clockid_t, struct timespec *);
    static int64_t first;
    const int64_t second = 1000000000;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(clock, time);
    if (status == 0 && clock == CLOCK_MONOTONIC) {
        const char *text = getenv("CLOCK_RATE");
        int64_t rate = text ? strtol(text, NULL, 10) : 1, now = time->tv_sec * second + time->tv_nsec;
        if (first == 0)
            first = now;
        now = first + (now - first) * rate;
        time->tv_sec = now / second;
        time->tv_nsec = now % second;
    }
    return status;
}
