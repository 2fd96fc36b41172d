/* Tables of tails: one block of memory a thread, cut into a table for each length of tail. */
#include "core/engines/merge/merge_workspace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 1 << 21 };

size_t sf_merge_workspace_bytes(const merge_sizes *sizes)
{
    size_t bytes = HUGE_PAGE; /* to align */
    for (int r = 0; r <= MERGE_TAIL_MAX; r++)
        bytes += sizes->entry_bytes[r] << sizes->log2_entries[r];
    return (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

int sf_merge_workspace_init(merge_workspace *workspace, const merge_sizes *sizes, sf_error *err)
{
    const size_t bytes = sf_merge_workspace_bytes(sizes);
    *workspace = (merge_workspace){.epoch = 1};
    workspace->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (workspace->memory == MAP_FAILED) {
        workspace->memory = NULL;
        return sf_fail(err, SF_ENOMEM, "no memory for %zu bytes of tables of tails", bytes);
    }
    workspace->memory_bytes = bytes;
    uint8_t *next = (uint8_t *)(((uintptr_t)workspace->memory + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    (void)madvise(workspace->memory, bytes, MADV_HUGEPAGE); /* a wish */
    for (int r = 0; r <= MERGE_TAIL_MAX; r++) {
        if (sizes->entry_bytes[r] == 0)
            continue;
        workspace->table[r] = (merge_table){
            .entries = next,
            .mask = ((uint64_t)1 << sizes->log2_entries[r]) - 1,
            .entry_bytes = sizes->entry_bytes[r],
        };
        next += sizes->entry_bytes[r] << sizes->log2_entries[r];
    }
    return SF_OK;
}

void sf_merge_workspace_free(merge_workspace *workspace)
{
    if (workspace->memory)
        munmap(workspace->memory, workspace->memory_bytes);
    free(workspace->scratch);
    *workspace = (merge_workspace){0};
}

void sf_merge_workspace_renew(merge_workspace *workspace)
{
    if (++workspace->epoch != 0)
        return;
    workspace->epoch = 1;
    memset(workspace->memory, 0, workspace->memory_bytes);
}

void *sf_merge_workspace_scratch(merge_workspace *workspace, size_t bytes)
{
    if (workspace->scratch_bytes < bytes) {
        free(workspace->scratch);
        workspace->scratch_bytes = (bytes + 63) / 64 * 64;
        workspace->scratch = aligned_alloc(64, workspace->scratch_bytes);
        if (!workspace->scratch)
            workspace->scratch_bytes = 0;
    }
    return workspace->scratch;
}
