#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The binomial tails of link.fec's codes in exact fractions: prints tails.txt, which test_fabric_fec compares with.

A line is: code, raw bit errors per 10^18, then what wf_fec_compile() makes of them, cut off to whole units: the
chances (2^-64) that one of 1, 2 and 7 groups of codewords is given up and that a codeword has errors and is
mended, and the mean numbers (2^-56) of symbols and of bits that are mended in one.
"""
from itertools import accumulate, repeat
from math import comb
from operator import mul

RS = {"rs528": (528, 7, 1), "rs544": (544, 15, 1), "rs544x2": (544, 15, 2), "rs544x4": (544, 15, 4),
      "rs272": (272, 7, 1), "rs272x2": (272, 7, 2)}
GROUPS = (1, 2, 7)
RATES = {"rs528": (10**10, 10**12, 5 * 10**13, 3 * 10**14, 10**16),
         "rs544": (24 * 10**13, 10**16),
         "rs544x2": (24 * 10**13, 15 * 10**14), "rs544x4": (10**15,),
         "rs272": (10**13, 43 * 10**12, 10**15), "rs272x2": (43 * 10**12, 10**16),
         "firecode": (10**8, 10**10, 10**13, 10**15)}


def floor(n, d, bits):
    return min((n << bits) // d, (1 << 64) - 1)


def groups(lost, whole, together):
    """That one of n groups of codewords is given up, each of which is with lost / whole."""
    right = whole - lost
    return [floor(whole**(k * together) - right**(k * together), whole**(k * together), 64) for k in GROUPS]


def powers(x, n):
    """x^0 to x^n."""
    return list(accumulate(repeat(x, n), mul, initial=1))


def reed_solomon(n, t, together, rate):
    """Every term of the binomial sum over one common denominator."""
    bad, of = rate, 10**18
    while bad % 10 == 0:
        bad, of = bad // 10, of // 10
    right, whole = (of - bad)**10, of**10
    wrong = whole - right
    wrongs, rights = powers(wrong, n), powers(right, n)
    term = [comb(n, i) * wrongs[i] * rights[n - i] for i in range(n + 1)]
    total = whole**n
    assert sum(term) == total
    symbols = sum(i * term[i] for i in range(1, t + 1))
    # A wrong symbol has 10 p / (1 - (1 - p)^10) wrong bits.
    flips_n, flips_d = symbols * 10 * bad * whole, total * of * wrong
    return groups(sum(term[t + 1:]), total, together) + [
        floor(sum(term[1:t + 1]), total, 64), floor(symbols, total, 56), floor(flips_n, flips_d, 56)]


def firecode(rate):
    """What is mended is counted, burst by burst, and the rest is lost: the other way round than in weft."""
    n, burst = 2112, 11
    bad, of = rate, 10**18
    while bad % 10 == 0:
        bad, of = bad // 10, of // 10
    good = of - bad
    total = of**n
    mended = n * bad * good**(n - 1)
    flips = mended * of
    for length in range(2, burst + 1):
        places = (n - length + 1) * bad**2 * good**(n - length) * of**(length - 2)
        mended += places
        flips += places * (2 * of + (length - 2) * bad)
    lost = total - good**n - mended
    mean = floor(flips, total * of, 56)
    return groups(lost, total, 1) + [floor(mended, total, 64), mean, mean]


def main():
    print("# SPDX-License-Identifier: Apache-2.0")
    print("# tails.py makes this: code, raw bit errors per 10^18, chances and means.")
    for code, rates in RATES.items():
        for rate in rates:
            row = firecode(rate) if code == "firecode" else reed_solomon(*RS[code], rate)
            print(code, rate, *row)


if __name__ == "__main__":
    main()
