/* Numbering of residue pairs and the masks of sequences. */
#include "core/contacts/contact.h"

#include <string.h>

void sf_contact_layout_init(sf_contact_layout *layout, int length)
{
    memset(layout, 0, sizeof *layout);
    layout->length = length;
    int bit = 0;
    for (int k = length - 1; k >= 0; k--) {
        layout->first[k] = (uint8_t)bit;
        layout->width[k] = (uint8_t)(k >= 3 ? (k - 1) / 2 : 0);
        bit += layout->width[k];
    }
    layout->n_bits = bit;
    layout->n_words = bit > 64 ? 2 : 1;
}

int sf_contact_bit(const sf_contact_layout *layout, int a, int b)
{
    int early = a < b ? a : b, late = a < b ? b : a;
    if (late - early < 3 || (late - early) % 2 == 0)
        return -1;
    return layout->first[late] + early / 2;
}

sf_contact_map sf_contact_mask(const sf_contact_layout *layout, uint32_t residues)
{
    sf_contact_map mask = 0;
    for (int late = 3; late < layout->length; late++) {
        for (int early = late - 3; early >= 0; early -= 2) {
            if ((residues >> late & 1) && (residues >> early & 1))
                mask |= (sf_contact_map)1 << sf_contact_bit(layout, early, late);
        }
    }
    return mask;
}

sf_contact_map sf_contact_reverse(const sf_contact_layout *layout, sf_contact_map map)
{
    sf_contact_map reverse = 0;
    int last = layout->length - 1;
    for (int late = 3; late <= last; late++) {
        for (int early = late - 3; early >= 0; early -= 2) {
            if (map >> sf_contact_bit(layout, early, late) & 1)
                reverse |= (sf_contact_map)1 << sf_contact_bit(layout, last - late, last - early);
        }
    }
    return reverse;
}

uint32_t sf_contact_residues_reverse(int length, uint32_t residues)
{
    uint32_t r = residues;
    r = (r >> 1 & 0x55555555u) | (r & 0x55555555u) << 1;
    r = (r >> 2 & 0x33333333u) | (r & 0x33333333u) << 2;
    r = (r >> 4 & 0x0f0f0f0fu) | (r & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(r) >> (32 - length);
}

int sf_contact_tail_bits(const sf_contact_layout *layout, int first_residue)
{
    return first_residue < layout->length ? layout->first[first_residue] + layout->width[first_residue] : 0;
}

void sf_contact_masks_init(sf_contact_masks *masks, const sf_contact_layout *layout)
{
    memset(masks, 0, sizeof *masks);
    for (int late = 3; late < layout->length; late++) {
        for (int early = late - 3; early >= 0; early -= 2) {
            sf_contact_map bit = (sf_contact_map)1 << sf_contact_bit(layout, early, late);
            int even = early % 2 == 0 ? early : late, odd = early % 2 == 0 ? late : early;
            for (unsigned byte = 0; byte < 256; byte++) {
                if (byte >> even % 8 & 1)
                    masks->even[even / 8][byte] |= bit;
                if (byte >> odd % 8 & 1)
                    masks->odd[odd / 8][byte] |= bit;
            }
        }
    }
}
