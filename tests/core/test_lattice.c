/* The lattices against the known numbers. */
#include "starfold/lattice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../test_main.h"

static void test_names(void)
{
    const char *const *names = sf_lattice_names();
    int n = 0;
    for (; names[n]; n++) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(sf_lattice_find(names[n]));
        CU_ASSERT_STRING_EQUAL(sf_lattice_find(names[n])->name, names[n]);
    }
    CU_ASSERT_EQUAL(n, 2);
    CU_ASSERT_PTR_NULL(sf_lattice_find("hexagonal"));
    CU_ASSERT_PTR_NULL(sf_lattice_find(""));
    CU_ASSERT_PTR_NULL(sf_lattice_find(NULL));
}

static void test_steps(void)
{
    for (const char *const *name = sf_lattice_names(); *name; name++) {
        const sf_lattice *lattice = sf_lattice_find(*name);
        CU_ASSERT_EQUAL(lattice->n_steps, 2 * lattice->dimension);
        for (int i = 0; i < lattice->n_steps; i++) {
            int length = 0;
            for (int axis = 0; axis < 3; axis++) {
                length += abs(lattice->step[i][axis]);
                CU_ASSERT_EQUAL(lattice->step[i][axis], -lattice->step[i ^ 1][axis]);
            }
            CU_ASSERT_EQUAL(length, 1);
            CU_ASSERT_EQUAL(lattice->step[i][i / 2], i % 2 ? -1 : 1);
        }
    }
    CU_ASSERT_EQUAL(memcmp(sf_lattice_find("square")->letter, "RLUD", 4), 0);
    CU_ASSERT_EQUAL(memcmp(sf_lattice_find("cubic")->letter, "RLUDFB", 6), 0);
}

/* The reduced counts of the csv (its columns 2 and 4: residues and count). */
static void check_conformations(const char *file_name, const char *lattice_name)
{
    FILE *file = test_data_open(file_name);
    char line[1024];
    int rows = 0;
    while (fgets(line, sizeof line, file)) {
        int residues;
        uint64_t reduced;
        if (sscanf(line, "%*d,%d,%*[0-9],%" SCNu64, &residues, &reduced) != 2)
            continue;
        CU_ASSERT_EQUAL(sf_lattice_conformations(sf_lattice_find(lattice_name), residues), reduced);
        rows++;
    }
    fclose(file);
    CU_ASSERT(rows >= 21);
}

static void test_conformations(void)
{
    check_conformations("saw_square.csv", "square");
    check_conformations("saw_cubic.csv", "cubic");
    const sf_lattice *square = sf_lattice_find("square"), *cubic = sf_lattice_find("cubic");
    /* beyond the csv, from c_45 and c_46 (square), c_28 and c_30 (cubic) by the formulas */
    CU_ASSERT_EQUAL(sf_lattice_conformations(square, 46), UINT64_C(4999088123327614393));
    CU_ASSERT_EQUAL(sf_lattice_conformations(square, 47), UINT64_C(13281970274227065417));
    CU_ASSERT_EQUAL(sf_lattice_conformations(cubic, 29), UINT64_C(254128996714908618));
    CU_ASSERT_EQUAL(sf_lattice_conformations(cubic, 31), UINT64_C(5636874078152676681));
    CU_ASSERT_EQUAL(sf_lattice_conformations(square, 48), 0);
    CU_ASSERT_EQUAL(sf_lattice_conformations(cubic, 32), 0);
    CU_ASSERT_EQUAL(sf_lattice_conformations(square, 0), 0);
    CU_ASSERT_EQUAL(sf_lattice_conformations(square, -1), 0);
}

static void test_max_contacts(void)
{
    FILE *file = test_data_open("max_contacts.csv");
    char line[1024];
    int rows = 0;
    while (fgets(line, sizeof line, file)) {
        int n, square, cubic;
        if (sscanf(line, "%d,%d,%*[^,],%d", &n, &square, &cubic) != 3 &&
            sscanf(line, "%d,%d,formula (A123663(N)-(N-1); reached by the spiral walk),%d", &n, &square, &cubic) != 3)
            continue;
        CU_ASSERT_EQUAL(sf_lattice_max_contacts(sf_lattice_find("square"), n), square);
        CU_ASSERT_EQUAL(sf_lattice_max_contacts(sf_lattice_find("cubic"), n), cubic);
        rows++;
    }
    fclose(file);
    CU_ASSERT_EQUAL(rows, 64);
    CU_ASSERT_EQUAL(sf_lattice_max_contacts(sf_lattice_find("square"), 1), 0);
    CU_ASSERT_EQUAL(sf_lattice_max_contacts(sf_lattice_find("cubic"), 1), 0);
}

const test_case test_cases[] = {
    {"names", test_names},
    {"steps", test_steps},
    {"conformations", test_conformations},
    {"max_contacts", test_max_contacts},
    {NULL, NULL},
};
