# SPDX-License-Identifier: Apache-2.0
# wait.bash - waiting for what must happen, which is how all tests wait.

# until_true COMMAND...: tries it until it succeeds, for two minutes at least.
until_true() {
	local i
	for ((i = 0; i < 2400; i++)); do
		"$@" && return 0
		sleep 0.05 # time: between two looks
	done
	echo "in vain: $*"
	return 1
}
