/* Contact maps as integers: one bit for each pair of residues that can touch.
 *
 * Neighbouring sites have opposite parity, and so have the residues on them; chain neighbours do not count. Residue k can
 * therefore touch the earlier residues k - 3, k - 5, ...: floor((k - 1) / 2) of them. It owns that many bits, partner j at
 * place j / 2. Early residues own the high bits, so that maps sorted as integers are sorted by their first residues and
 * maps that agree on a prefix of the chain lie together. 24 residues need 121 bits, 18 residues 64. */
#ifndef SF_CORE_CONTACT_H
#define SF_CORE_CONTACT_H

#include <stdint.h>

enum { SF_CONTACT_LENGTH_MAX = 24 };

__extension__ typedef unsigned __int128 sf_contact_map;

typedef struct sf_contact_layout {
    int length;                           /* residues, 3..SF_CONTACT_LENGTH_MAX */
    int n_bits;                           /* bits of a map */
    int n_words;                          /* 64-bit words a map needs: 1 or 2 */
    uint8_t first[SF_CONTACT_LENGTH_MAX]; /* residue k owns bits first[k] .. first[k] + width[k] - 1 */
    uint8_t width[SF_CONTACT_LENGTH_MAX];
} sf_contact_layout;

void sf_contact_layout_init(sf_contact_layout *layout, int length);

/* Bit of the pair of residues a and b (either order), or -1 when they can never touch. */
int sf_contact_bit(const sf_contact_layout *layout, int a, int b);

/* All pairs of which both residues are in `residues` (bit k = residue k). popcount(map AND mask) is the HH score when
 * residues are the H. Plain; see sf_contact_masks for many. */
sf_contact_map sf_contact_mask(const sf_contact_layout *layout, uint32_t residues);

/* The map of the same conformation with the chain numbered from the other end. */
sf_contact_map sf_contact_reverse(const sf_contact_layout *layout, sf_contact_map map);

/* The residues with the chain numbered from the other end. */
uint32_t sf_contact_residues_reverse(int length, uint32_t residues);

/* Bits that belong to residues k >= first_residue: the low ones. */
int sf_contact_tail_bits(const sf_contact_layout *layout, int first_residue);

static inline int sf_contact_count(sf_contact_map map)
{
    return __builtin_popcountll((uint64_t)map) + __builtin_popcountll((uint64_t)(map >> 64));
}

/* Tables that make a mask with a few look-ups. A pair is one even and one odd residue, so the mask is the AND of "the even
 * one is there" with "the odd one is there", and each of these is an OR over the residues, hence over the bytes. */
enum { SF_CONTACT_BYTES = (SF_CONTACT_LENGTH_MAX + 7) / 8 };

typedef struct sf_contact_masks {
    sf_contact_map even[SF_CONTACT_BYTES][256];
    sf_contact_map odd[SF_CONTACT_BYTES][256];
} sf_contact_masks;

void sf_contact_masks_init(sf_contact_masks *masks, const sf_contact_layout *layout);

static inline sf_contact_map sf_contact_masks_get(const sf_contact_masks *masks, uint32_t residues)
{
    uint32_t a = residues & 255, b = residues >> 8 & 255, c = residues >> 16 & 255;
    return (masks->even[0][a] | masks->even[1][b] | masks->even[2][c]) &
           (masks->odd[0][a] | masks->odd[1][b] | masks->odd[2][c]);
}

#endif
