/* SPDX-License-Identifier: Apache-2.0 */
/* sma_preset.c - what ports are set to before a manager comes: what the hardware does by itself. */
#include <errno.h>

#include "mgmt/sma_priv.h"

static void put_table(uint8_t *to, const struct wf_vl_arb_entry *from, unsigned n, unsigned cap)
{
	for (unsigned i = 0; i < n && i < cap; i++) {
		to[2 * i] = from[i].vl;
		to[2 * i + 1] = from[i].weight;
	}
}

int wf_sma_preset(struct wf_sma *sma, unsigned port, const struct wf_sma_preset *preset)
{
	struct wf_sma_port *p = &sma->port[port];

	assert(wf_sma_has_port(sma, port) && port != 0);
	if (p->vl_arb == NULL)
		p->vl_arb = sma->mem->alloc(sma->mem, sma->vl_arb_cap * 4U);
	if (p->vl_arb == NULL)
		return -ENOMEM;
	put_table(p->vl_arb, preset->low, preset->n_low, sma->vl_arb_cap);
	put_table(p->vl_arb + sma->vl_arb_cap * 2U, preset->high, preset->n_high, sma->vl_arb_cap);
	for (unsigned i = 0; i < WF_SMA_SL_BYTES; i++)
		p->sl_to_vl[i] = (uint8_t)(preset->sl_to_vl[2 * i] << 4 |
		                           (preset->sl_to_vl[2 * i + 1] & 15));
	p->info.mtu_cap = wf_ib_mtu_encode(preset->mtu);
	p->info.vl_high_limit = preset->vl_high_limit;
	p->info.hoq_life = preset->hoq_life;
	p->info.vl_stall_count = preset->vl_stall_count;
	p->info.link_width_supported = p->info.link_width_enabled = (uint8_t)preset->widths;
	wf_ib_speed_put(&p->info, preset->speeds, preset->speeds, WF_SPEED_SDR);
	/* Those are port 0's. */
	if (!wf_sma_is_end(sma, port))
		p->info.capability_mask = p->info.capability_mask2 = 0;
	return 0;
}
