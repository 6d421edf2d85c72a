"""The workloads: 27 contractions of NWChem's CCSD(T) triples, and Nekbone's gradient.

Sources: J. Hammond, nwchem-tce-triples-kernels, `ccsd_t_kernels_ref.f`; A. Rivera, thesis, University of Utah, 2014,
figures 2.5 and 3.1.  Index lists are Fortran's: the first index has unit stride.
"""

from __future__ import annotations

_OPERANDS = {
    "s1": "t1:(p4,h1) * v2:(h3,h2,p6,p5)",
    "d1": "t2:(h7,p4,p5,h1) * v2:(h3,h2,p6,h7)",
    "d2": "t2:(p7,p4,h1,h2) * v2:(p7,h3,p6,p5)",
}
_OUTPUTS = {
    "s1": "+h3h2h1p6p5p4 -h3h1h2p6p5p4 +h1h3h2p6p5p4 -h3h2h1p6p4p5 +h3h1h2p6p4p5 -h1h3h2p6p4p5 "
    "+h3h2h1p4p6p5 -h3h1h2p4p6p5 +h1h3h2p4p6p5",
    "d1": "-h3h2h1p6p5p4 +h3h1h2p6p5p4 -h1h3h2p6p5p4 -h3h2h1p5p4p6 +h3h1h2p5p4p6 -h1h3h2p5p4p6 "
    "+h3h2h1p5p6p4 -h3h1h2p5p6p4 +h1h3h2p5p6p4",
    "d2": "-h3h2h1p6p5p4 -h2h1h3p6p5p4 +h2h3h1p6p5p4 +h3h2h1p6p4p5 +h2h1h3p6p4p5 -h2h3h1p6p4p5 "
    "-h3h2h1p4p6p5 -h2h1h3p4p6p5 +h2h3h1p4p6p5",
}
_TRIPLES = """{name}
memory: column
pattern: strided
define: n = {n}
variables: t3: (n,n,n,n,n,n)  {second}  v2: (n,n,n,n)
operations: t3:({output}) {sign}= {operands}
"""
_GRADIENT = """local_grad3
memory: column
pattern: strided
define: n = {n} nelt = 1000
variables:
  u: (n, n, n, nelt)  D: (n, n)  Dt: (n, n)
  ur: (n, n, n, nelt)  us: (n, n, n, nelt)  ut: (n, n, n, nelt)
operations:
  ur:(k,j,i,e) += D:(k,m) * u:(m,j,i,e)
  us:(k,j,i,e) += u:(k,m,i,e) * Dt:(m,j)
  ut:(k,j,i,e) += u:(k,j,m,e) * Dt:(m,i)
"""
GRADIENT_AS_PUBLISHED = """local_grad3
memory: column
pattern: strided
define: n = {n} nelt = {elements}
variables:
  u: (n, n, n, nelt)  D: (n, n)  Dt: (n, n)
  ur: (n, n, n, nelt)  us: (n, n, n, nelt)  ut: (n, n, n, nelt)
operations:
  ur:(k,j,i,e) += D:(k,m) * u:(m,j,i,e)
  us:(k,j,i,e) += u:(k,m,i,e) * Dt:(m,j)
  ut:(k,i,j,e) += u:(k,i,m,e) * Dt:(m,j)
"""
"""The same with the names of the loops of figure 2.5, by which the third statement has a kernel of its own."""


def programs(n: int) -> dict[str, str]:
    """The programs of all kernels by name, with `n` for the size of each index."""
    found: dict[str, str] = {}
    for family, outputs in _OUTPUTS.items():
        second = "t1: (n,n)" if family == "s1" else "t2: (n,n,n,n)"
        for number, text in enumerate(outputs.split(), start=1):
            listed = ",".join(text[k : k + 2] for k in range(1, len(text), 2))
            name = f"sd_t_{family}_{number}"
            found[name] = _TRIPLES.format(
                name=name, n=n, second=second, output=listed, sign=text[0], operands=_OPERANDS[family]
            )
    return {**found, "local_grad3": _GRADIENT.format(n=n)}
