"""The variants as the kernels know them: labels on the gaps of a tour.

Take request i out of a tour; what remains has M = N - 2 nodes and as many *gaps*, gap g being the
place right behind the g-th remaining node. Every variant here can be written as two labels per gap:

    the pickup may go into gap j and the delivery into gap k
        if and only if   j <= k   and   pickup_label[j] == delivery_label[k].

* PDTSP: all labels are 0.
* LIFO: both labels are the request on top of the stack in that gap (0 if the vehicle is empty): between
  two gaps with the same top, everything that was loaded has been unloaded again.

From the labels follow, in time O(N) and without a word about variants, the masks and lists in
``feasible`` and the best and the sampled reinsertion in ``reinsertion``.
"""

from __future__ import annotations

from numba import njit

from n2s.problem.variant import Variant

PDTSP = Variant.PDTSP.code
LIFO = Variant.LIFO.code


@njit(cache=True)
def gap_labels(variant, rest, n, pickup_label, delivery_label, below):  # type: ignore[no-untyped-def]
    """Fill the two label arrays (M,) of one tour without its request.

    ``below`` is scratch of n + 1 integers: the request right below each loaded one.
    """
    if variant == LIFO:
        top = 0
        for gap in range(len(rest)):
            node = rest[gap]
            if node > n:
                top = below[node - n]
            elif node > 0:
                below[node] = top
                top = node
            pickup_label[gap] = top
            delivery_label[gap] = top
    else:
        for gap in range(len(rest)):
            pickup_label[gap] = 0
            delivery_label[gap] = 0
