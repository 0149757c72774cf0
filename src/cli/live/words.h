/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - faults of a live fabric in the words of a scenario: what weft fault asks for, and what
 * the daemon understands.
 */
#ifndef WF_CLI_LIVE_WORDS_H
#define WF_CLI_LIVE_WORDS_H

#include "live/daemon.h"
#include "live/proto.h"

/* The daemon's side; its arg is a struct wf_faults_live. */
extern const struct wf_daemon_words wf_live_words;

/*
 * Turns the words behind `weft fault on` into an entry of `faults:`: "leaf0-spine1 flap every 1s
 * for
 * 100ms until 10s", "h5 set nic.pcie=32Gbps at 2s". Returns WF_EXIT_OK, or says what is wrong and
 * returns WF_EXIT_USAGE.
 */
int wf_live_words_entry(char **word, char text[WF_LIVE_TEXT]) WF_MUST_USE;

#endif
