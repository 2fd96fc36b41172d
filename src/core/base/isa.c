/* The instruction set, from the processor and the environment. */
#include "core/base/isa.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[SF_ISA_COUNT] = {
    [SF_ISA_PORTABLE] = "portable",
    [SF_ISA_AVX2] = "avx2",
    [SF_ISA_AVX512] = "avx512",
};

/* What the processor and the system's saving of registers allow. */
static sf_isa machine(void)
{
#if defined __x86_64__
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
        !__builtin_cpu_supports("popcnt"))
        return SF_ISA_PORTABLE;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("avx512vpopcntdq") || !__builtin_cpu_supports("avx512vbmi") ||
        !__builtin_cpu_supports("avx512vbmi2") || !__builtin_cpu_supports("avx512bitalg"))
        return SF_ISA_AVX2;
    return SF_ISA_AVX512;
#else
    return SF_ISA_PORTABLE;
#endif
}

/* The set STARFOLD_ISA names; SF_ISA_COUNT: not set; -1: unknown. */
static int wanted(const char **text)
{
    *text = getenv("STARFOLD_ISA");
    if (!*text || !**text)
        return SF_ISA_COUNT;
    for (int i = 0; i < SF_ISA_COUNT; i++) {
        if (strcmp(*text, names[i]) == 0)
            return i;
    }
    return -1;
}

sf_isa sf_isa_get(void)
{
    const char *text;
    int want = wanted(&text);
    sf_isa best = machine();
    if (want < 0)
        return SF_ISA_PORTABLE;
    return want < (int)best ? (sf_isa)want : best;
}

int sf_isa_check(sf_error *err)
{
    const char *text;
    if (wanted(&text) >= 0)
        return 0;
    return sf_fail(err, SF_EINPUT, "STARFOLD_ISA is '%s'; allowed are portable, avx2 and avx512", text);
}

const char *sf_isa_name(sf_isa isa)
{
    return names[isa];
}
