/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_completion.c - weft completion: what a shell needs to complete weft's command lines.
 *
 * The scripts know nothing of commands and options: they hand over the words, and get what may come
 * next from the tables of the program that is there (complete.h).
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"
#include "cli/complete.h"
#include "text/file.h"
#include "text/suggest.h"

static const char bash[] =
	"# bash completion of weft, from weft completion bash.\n"
	"# shellcheck disable=SC2053 # what is matched with is a pattern\n"
	"_weft() {\n"
	"\tlocal line kind rest prefix pattern part cut i\n"
	"\tlocal -a words at\n"
	"\t# bash splits words at = and :, which weft does not: parts with no blank between are\n"
	"\t# one word again, without quotes. cut is what bash will not replace of the last.\n"
	"\trest=${COMP_LINE:0:COMP_POINT}\n"
	"\tfor ((i = 0; i <= COMP_CWORD; i++)); do\n"
	"\t\tpart=${COMP_WORDS[i]}\n"
	"\t\tif [[ $i -eq 0 || $rest == [[:space:]]* ]]; then\n"
	"\t\t\trest=${rest#\"${rest%%[![:space:]]*}\"}\n"
	"\t\t\twords+=('')\n"
	"\t\t\tat+=(\"$i\")\n"
	"\t\tfi\n"
	"\t\t[ \"$i\" -lt \"$COMP_CWORD\" ] || part=$rest\n"
	"\t\trest=${rest#\"$part\"}\n"
	"\t\tcut=${words[-1]}\n"
	"\t\tcase $part in\n"
	"\t\t\\'*) part=${part#\\'} part=${part%\\'} ;;\n"
	"\t\t\\\"*) part=${part#\\\"} part=${part%\\\"} ;;\n"
	"\t\t*) part=${part//\\\\/} ;;\n"
	"\t\tesac\n"
	"\t\twords[-1]+=$part\n"
	"\t\t[[ $part != [=:]* ]] || cut=${words[-1]}\n"
	"\tdone\n"
	"\tCOMPREPLY=()\n"
	"\twhile IFS= read -r line; do\n"
	"\t\tkind=${line%%[ $'\\t']*}\n"
	"\t\trest=${line#* }\n"
	"\t\tcase $kind in\n"
	"\t\t:program)\n"
	"\t\t\tif type -t _command_offset >/dev/null; then\n"
	"\t\t\t\t_command_offset \"${at[rest]}\"\n"
	"\t\t\telif [ \"$rest\" -eq $((${#words[@]} - 1)) ]; then\n"
	"\t\t\t\tmapfile -t COMPREPLY < <(compgen -c -- \"${words[-1]}\")\n"
	"\t\t\telse\n"
	"\t\t\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\t\t\tmapfile -t COMPREPLY < <(compgen -f -- \"${words[-1]}\")\n"
	"\t\t\tfi\n"
	"\t\t\treturn\n"
	"\t\t\t;;\n"
	"\t\t:folders | :files)\n"
	"\t\t\tprefix=${rest%%$'\\t'*}\n"
	"\t\t\tpattern='*'\n"
	"\t\t\t[[ $rest == *$'\\t'* ]] && pattern=${rest#*$'\\t'}\n"
	"\t\t\t# bash then quotes what it has to, and sets a slash behind folders.\n"
	"\t\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\t\twhile IFS= read -r line; do\n"
	"\t\t\t\tif [[ -d ${line/#~\\//$HOME/} || $kind == :files && $line == $pattern ]]; then\n"
	"\t\t\t\t\tCOMPREPLY+=(\"$prefix$line\")\n"
	"\t\t\t\tfi\n"
	"\t\t\tdone < <(compgen -f -- \"${words[-1]#\"$prefix\"}\")\n"
	"\t\t\t;;\n"
	"\t\t*)\n"
	"\t\t\tCOMPREPLY+=(\"${line%%$'\\t'*}\")\n"
	"\t\t\t;;\n"
	"\t\tesac\n"
	"\tdone < <(\"${COMP_WORDS[0]}\" completion --words -- \"${words[@]}\" 2>/dev/null)\n"
	"\tfor i in \"${!COMPREPLY[@]}\"; do\n"
	"\t\tcase ${COMPREPLY[i]} in *=) compopt -o nospace 2>/dev/null ;; esac\n"
	"\t\tCOMPREPLY[i]=${COMPREPLY[i]#\"$cut\"}\n"
	"\tdone\n"
	"}\n"
	"complete -F _weft weft\n";

static const char zsh[] =
	"#compdef weft\n"
	"# zsh completion of weft, from weft completion zsh.\n"
	"_weft() {\n"
	"\tlocal line rest prefix\n"
	"\tlocal -a named open paths\n"
	"\tfor line in ${(f)\"$(${words[1]} completion --words -- \"${(@)words[1,CURRENT-1]}\" "
	"\"$PREFIX\" 2>/dev/null)\"}; do\n"
	"\t\trest=${line#* }\n"
	"\t\tprefix=${rest%%$'\\t'*}\n"
	"\t\tcase $line in\n"
	"\t\t:program\\ *)\n"
	"\t\t\tshift $rest words\n"
	"\t\t\t((CURRENT -= rest))\n"
	"\t\t\t_normal\n"
	"\t\t\treturn\n"
	"\t\t\t;;\n"
	"\t\t:folders\\ * | :files\\ *)\n"
	"\t\t\t[[ -n $prefix ]] && compset -P \"${(b)prefix}\"\n"
	"\t\t\tif [[ $line == :folders\\ * ]]; then\n"
	"\t\t\t\t_files -/\n"
	"\t\t\telse\n"
	"\t\t\t\t_files -g \"${rest#*$'\\t'}\"\n"
	"\t\t\tfi\n"
	"\t\t\t;;\n"
	"\t\t*)\n"
	"\t\t\tif [[ ${line%%$'\\t'*} == *= ]]; then\n"
	"\t\t\t\topen+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
	"\t\t\telse\n"
	"\t\t\t\tnamed+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
	"\t\t\tfi\n"
	"\t\t\t;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\t(($#named)) && _describe weft named\n"
	"\t(($#open)) && _describe weft open -S ''\n"
	"}\n"
	"if [[ ${funcstack[1]} == _weft ]]; then\n"
	"\t_weft \"$@\"\n"
	"elif (($+functions[compdef])); then\n"
	"\tcompdef _weft weft\n"
	"fi\n";

static const char fish[] =
	"# fish completion of weft, from weft completion fish.\n"
	"function __weft_complete\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l cur (commandline -ct)\n"
	"\tfor line in ($words[1] completion --words -- $words \"$cur\" 2>/dev/null)\n"
	"\t\tset -l rest (string replace -r '^\\S+ ' '' -- $line)\n"
	"\t\tset -l part (string split \\t -- $rest)\n"
	"\t\tswitch $line\n"
	"\t\t\tcase ':program *'\n"
	"\t\t\t\tset -l from (math $rest + 1)\n"
	"\t\t\t\tset -l command $words[$from..-1] \"$cur\"\n"
	"\t\t\t\tcomplete -C (string join ' ' -- $command)\n"
	"\t\t\tcase ':folders *'\n"
	"\t\t\t\tset -l path (string sub -s (math (string length -- \"$part[1]\") + 1) -- "
	"\"$cur\")\n"
	"\t\t\t\tfor found in (__fish_complete_directories \"$path\" '')\n"
	"\t\t\t\t\techo $part[1]$found\n"
	"\t\t\t\tend\n"
	"\t\t\tcase ':files *'\n"
	"\t\t\t\tset -l path (string sub -s (math (string length -- \"$part[1]\") + 1) -- "
	"\"$cur\")\n"
	"\t\t\t\tfor found in (complete -C \"'' $path\")\n"
	"\t\t\t\t\tset -l name (string split \\t -- $found)[1]\n"
	"\t\t\t\t\tif string match -q -- '*/' $name; or string match -q -- $part[2] $name\n"
	"\t\t\t\t\t\techo $part[1]$name\n"
	"\t\t\t\t\tend\n"
	"\t\t\t\tend\n"
	"\t\t\tcase '*'\n"
	"\t\t\t\techo $line\n"
	"\t\tend\n"
	"\tend\n"
	"end\n"
	"complete -c weft -f -a '(__weft_complete)'\n";

static const struct shell {
	const char *name;
	const char *script;
} shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };

static const char *const shell_words[] = { "bash", "zsh", "fish", NULL };

/* What the command line asks for. */
struct request {
	const char *out;
	bool words;
};

static const struct shell *find_shell(const char *name)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(shells); i++) {
		if (strcmp(shells[i].name, name) == 0)
			return &shells[i];
	}
	return NULL;
}

static int unknown_shell(const char *name)
{
	struct wf_suggest suggest;

	wf_suggest_init(&suggest, name);
	for (size_t i = 0; i < WF_ARRAY_SIZE(shells); i++)
		wf_suggest_offer(&suggest, shells[i].name);
	return wf_cli_usage("completion", "there is no shell '%.40s' here%s", name,
	                    wf_suggest_text(&suggest, "there are"));
}

static int run_completion(int argc, char **argv)
{
	struct request req = { .words = false };
	const struct shell *shell;
	struct wf_err err = { "" };
	struct wf_out out;
	int rc = wf_opt_parse(&wf_cmd_completion, argc, argv, &req);

	if (rc >= 0)
		return rc;
	if (req.words) {
		wf_complete(argc - optind, argv + optind, stdout);
		return wf_cli_finish();
	}
	if (optind + 1 != argc)
		return wf_cli_usage("completion", "name one shell: bash, zsh or fish");
	shell = find_shell(argv[optind]);
	if (shell == NULL)
		return unknown_shell(argv[optind]);
	rc = wf_out_open(&out, wf_opt_out_path(req.out), &err);
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	fputs(shell->script, out.file);
	rc = wf_out_commit(&out, &err);
	wf_out_abort(&out);
	return rc == 0 ? WF_EXIT_OK : wf_cli_fail(rc, &err);
}

static const struct wf_values shell_values = { .words = shell_words };
static const struct wf_values *const operands[] = { &shell_values, NULL };

static const struct wf_opt_row options[] = {
	{ .is = &wf_opt_out,
	  .take = wf_opt_take_text,
	  .at = offsetof(struct request, out),
	  .more = "Standard output if not given." },
	{
		.is =
			&(const struct wf_opt){
				.name = "words",
				.help = "For the scripts: what follows `--` are the words of a "
					"command "
					"line, `weft` and all, of which the last may be unfinished "
					"or "
					"empty. Prints what it may become, a line each, with a tab "
					"before "
					"what it means.",
			},
		.take = wf_opt_take_flag,
		.at = offsetof(struct request, words),
	},
	{ .is = NULL },
};

static const struct wf_cmd_section sections[] = {
	{ "Files", "Where `make install` puts them, the shells find them by themselves:\n"
	           ":bash\tPREFIX/share/bash-completion/completions/weft\n"
	           ":zsh\tPREFIX/share/zsh/site-functions/_weft\n"
	           ":fish\tPREFIX/share/fish/vendor_completions.d/weft.fish\n" },
	{ "Examples", "  source <(weft completion bash)\n"
	              "  weft completion zsh --out ~/.zfunc/_weft\n"
	              "  weft completion fish | source\n" },
	{ NULL, NULL },
};

static const char *const forms[] = { "completion SHELL [--out PATH]",
	                             "completion --words -- weft WORD...", NULL };

const struct wf_cmd wf_cmd_completion = {
	.name = "completion",
	.summary = "print what a shell needs to complete weft's commands",
	.operands = "SHELL",
	.values = operands,
	.options = options,
	.forms = forms,
	.text = "Prints a script for bash, zsh or fish that completes commands, options and what "
		"stands behind them: profiles, parameters, formats, files, live fabrics and their "
		"hosts. The script asks the `weft` of the command line, so that it never is of "
		"another version.\n",
	.sections = sections,
	.see = "weft(1), weft-help(1), bash(1), zsh(1), fish(1)",
	.run = run_completion,
};
