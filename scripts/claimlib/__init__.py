# SPDX-License-Identifier: Apache-2.0
"""What scripts/claims.py measures: measure.py is how, the other files are the claims, by subject."""
