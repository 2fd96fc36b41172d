/* Which instruction set the vector code uses. All sets give the same results; only speed differs. */
#ifndef SF_CORE_BASE_ISA_H
#define SF_CORE_BASE_ISA_H

#include "starfold/error.h"

typedef enum sf_isa {
    SF_ISA_PORTABLE,
    SF_ISA_AVX2,   /* AVX2, BMI, POPCNT */
    SF_ISA_AVX512, /* AVX-512 F, BW, DQ, VL, VBMI, VBMI2, BITALG, VPOPCNTDQ */
    SF_ISA_COUNT
} sf_isa;

/* The best set this machine has, held down by the environment variable STARFOLD_ISA (portable, avx2, avx512), which cannot
 * raise it. A value that is none of these holds it down to portable; sf_isa_check tells. Read anew at each call. */
sf_isa sf_isa_get(void);

/* SF_EINPUT when STARFOLD_ISA is set (not empty) to something unknown. */
int sf_isa_check(sf_error *err);

/* "portable", "avx2", "avx512". Static storage. */
const char *sf_isa_name(sf_isa isa);

#endif
