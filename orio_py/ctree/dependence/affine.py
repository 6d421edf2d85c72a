"""Integer polynomials over loop iterations and symbolic parameters: the form in which subscripts are compared.

A subscript such as `i*n + j` becomes a sum of monomials.  Symbols that start with `@` stand for the
iterations of loops and for auxiliary integers, those with `@@` for the same of loops around the analysed
nest, which are fixed while it runs; all others are parameters, written as C text.  A product
of parameters alone counts as one parameter, so `i + n*m` is affine and `i*n + j` is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Monomial = tuple[str, ...]
"""A product of symbols, sorted; the empty product is the constant 1."""

Linear = Mapping[str, int]
"""An affine form: coefficients by symbol, the constant under the empty name."""

PRODUCT = "*"
"""What stands between the factors in the names of products."""

MAXIMUM_TERMS = 64
"""Expressions with more monomials than this are treated as unknown."""


def is_iteration(symbol: str) -> bool:
    """Whether the symbol is a loop iteration or an auxiliary integer, not a parameter."""
    return symbol.startswith("@")


def is_fixed(symbol: str) -> bool:
    """Whether the symbol has one value while the analysed nest runs."""
    return symbol.startswith("@@") or not symbol.startswith("@")


def factors(name: str) -> tuple[str, str] | None:
    """The iteration and the fixed symbol whose product a name in a relaxed form stands for."""
    symbol, times, factor = name.partition(PRODUCT)
    return (symbol, factor) if times and is_iteration(symbol) and not is_fixed(symbol) else None


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A polynomial with integer coefficients; `terms` holds no zero coefficient."""

    terms: Mapping[Monomial, int]

    @classmethod
    def constant(cls, value: int) -> Polynomial:
        """The constant polynomial `value`."""
        return cls({(): value} if value else {})

    @classmethod
    def symbol(cls, name: str) -> Polynomial:
        """The polynomial that is one symbol."""
        return cls({(name,): 1})

    @classmethod
    def total(cls, parts: Iterable[tuple[Monomial, int]]) -> Polynomial:
        """The sum of terms, in which a monomial may occur several times."""
        terms: dict[Monomial, int] = {}
        for monomial, coefficient in parts:
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return cls({monomial: coefficient for monomial, coefficient in terms.items() if coefficient})

    def __add__(self, other: Polynomial) -> Polynomial:
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            found = terms.get(monomial, 0) + coefficient
            if found:
                terms[monomial] = found
            else:
                del terms[monomial]
        return Polynomial(terms)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + other.scaled(-1)

    def __mul__(self, other: Polynomial) -> Polynomial:
        return Polynomial.total(
            (tuple(sorted(left + right)), a * b)
            for left, a in self.terms.items()
            for right, b in other.terms.items()
        )

    def multiple(self) -> tuple[int, Polynomial]:
        """A number c and q such that c·q is a part of the sum in which some terms are added and others taken away.

        >>> Polynomial({("n",): 41, (): 1, ("s",): -41}).multiple()[0]
        41
        """
        for factor in sorted({abs(c) for product, c in self.terms.items() if product}, reverse=True):
            part = {m: c // factor for m, c in self.terms.items() if m and abs(c) == factor}
            if factor > 1 and {1, -1} <= set(part.values()):
                return factor, Polynomial(part)
        return 1, Polynomial.constant(0)

    def scaled(self, factor: int) -> Polynomial:
        """The polynomial times an integer."""
        return Polynomial({monomial: factor * c for monomial, c in self.terms.items()} if factor else {})

    def shifted(self, offset: int) -> Polynomial:
        """The polynomial plus an integer."""
        return self + Polynomial.constant(offset)

    @property
    def key(self) -> tuple[tuple[Monomial, int], ...]:
        """A hashable form: equal for equal polynomials."""
        return tuple(sorted(self.terms.items()))

    def summands(self) -> list[tuple[Monomial, int]]:
        """The terms in the order in which C should add them.

        Differences come first, `n - s + 80`, as `n + 80` may overflow where `n - s` does not.
        """
        terms = sorted(
            self.terms.items(), key=lambda item: (item[1] < 0, not item[0], -len(item[0]), item[0])
        )
        pairs: list[tuple[Monomial, int]] = []
        for monomial, coefficient in terms:
            alike = (term for term in terms if len(term[0]) == len(monomial) and term[1] == -coefficient)
            less = next((term for term in alike if monomial and coefficient > 0 and term not in pairs), None)
            pairs += [] if less is None else [(monomial, coefficient), less]
        return pairs + [term for term in terms if term not in pairs]

    @property
    def symbols(self) -> frozenset[str]:
        """The symbols that occur."""
        return frozenset(symbol for monomial in self.terms for symbol in monomial)

    def substituted(self, name: str, by: Polynomial) -> Polynomial:
        """The polynomial with another one in the place of a symbol."""
        result = Polynomial({})
        for monomial, coefficient in self.terms.items():
            rest = tuple(symbol for symbol in monomial if symbol != name)
            part = Polynomial({rest: coefficient})
            for _ in range(len(monomial) - len(rest)):
                part = part * by
            result = result + part
        return result

    @property
    def value(self) -> int | None:
        """The integer that a constant polynomial is, otherwise None."""
        if not self.terms:
            return 0
        return self.terms.get(()) if len(self.terms) == 1 else None

    @property
    def is_parametric(self) -> bool:
        """Whether no loop iteration occurs."""
        return not any(is_iteration(symbol) for monomial in self.terms for symbol in monomial)

    def linear(self) -> Linear | None:
        """The affine form, or None if a loop iteration is multiplied by something that is not a number."""
        row: dict[str, int] = {}
        for monomial, coefficient in self.terms.items():
            if len(monomial) == 1:
                row[monomial[0]] = coefficient
            elif any(is_iteration(symbol) for symbol in monomial):
                return None
            else:
                row[PRODUCT.join(monomial)] = coefficient
        return row

    def relaxed(self) -> Linear | None:
        """The affine form in which a product of one iteration and one fixed symbol is an integer of its own, `@i*n`.

        Where no such integers fulfil a constraint, no iterations do.  None where other products occur.
        """
        row: dict[str, int] = {}
        for monomial, coefficient in self.terms.items():
            iterations = [symbol for symbol in monomial if is_iteration(symbol)]
            if iterations and len(monomial) > 1:
                fixed = [symbol for symbol in monomial if is_fixed(symbol) and symbol != iterations[0]]
                if len(monomial) > 2 or len(fixed) != 1:
                    return None
                row[PRODUCT.join((iterations[0], *fixed))] = coefficient
            else:
                row[PRODUCT.join(monomial)] = coefficient
        return row

    def iteration_coefficients(self) -> tuple[dict[str, Polynomial], Polynomial] | None:
        """The parametric coefficient of each iteration, and the parametric rest.

        None if iterations are multiplied with each other.
        """
        parts: dict[str, dict[Monomial, int]] = {}
        for monomial, coefficient in self.terms.items():
            iterations = [symbol for symbol in monomial if is_iteration(symbol)]
            if len(iterations) > 1:
                return None
            key, rest = "", monomial
            if iterations:
                (key,) = iterations
                rest = tuple(symbol for symbol in monomial if symbol != key)
            # Monomials differ, and so do what is left of those with the same iteration.
            parts.setdefault(key, {})[rest] = coefficient
        coefficients = {key: Polynomial(terms) for key, terms in parts.items()}
        rest_of_all = coefficients.pop("", Polynomial({}))
        return coefficients, rest_of_all

    def leading(self) -> tuple[Monomial, int]:
        """The term of highest degree, ties broken by name.  The polynomial must not be zero."""
        monomial = max(self.terms, key=lambda m: (len(m), m))
        return monomial, self.terms[monomial]

    def divided(self, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Quotient and rest of a division by the leading term of a divisor that is not a number."""
        lead, factor = divisor.leading()
        quotient, rest, remaining = Polynomial({}), Polynomial({}), self
        while remaining.terms:
            monomial, coefficient = remaining.leading()
            cofactor = _without(monomial, lead)
            if cofactor is None or coefficient % factor:
                term = Polynomial({monomial: coefficient})
                rest, remaining = rest + term, remaining - term
            else:
                part = Polynomial({cofactor: coefficient // factor})
                quotient, remaining = quotient + part, remaining - part * divisor
        return quotient, rest

    def divided_by_iterations(self, stride: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Quotient and rest, with the iterations kept whole: `i*(n+2)` is `i` times the stride."""
        parts = self.iteration_coefficients()
        if parts is None:
            return Polynomial({}), self
        quotient, rest = parts[1].divided(stride)
        for symbol, coefficient in parts[0].items():
            factor, remaining = coefficient.divided(stride)
            if factor.value is None:
                factor, remaining = Polynomial({}), coefficient
            quotient += Polynomial.symbol(symbol) * factor
            rest += Polynomial.symbol(symbol) * remaining
        return quotient, rest


def _without(monomial: Monomial, part: Monomial) -> Monomial | None:
    left = list(monomial)
    for symbol in part:
        if symbol not in left:
            return None
        left.remove(symbol)
    return tuple(left)


def difference(left: Linear, right: Linear) -> Linear:
    """`left - right`, without coefficients of 0."""
    result = dict(left)
    for name, coefficient in right.items():
        result[name] = result.get(name, 0) - coefficient
    return {name: coefficient for name, coefficient in result.items() if coefficient}


def least_values(facts: Iterable[Polynomial]) -> dict[str, int]:
    """What polynomials that are at least 0 say of single variables: of `m - n` and `n - 3`, that both are at least 3."""
    found: dict[str, int] = {}
    known = [fact for fact in facts if all(len(monomial) <= 1 for monomial in fact.terms)]
    for _ in known:
        before = dict(found)
        for fact in known:
            more = [symbols for symbols, factor in fact.terms.items() if symbols and factor > 0]
            less = [symbols for symbols, factor in fact.terms.items() if symbols and factor < 0]
            if len(more) != 1 or fact.terms[more[0]] != 1 or any(names[0] not in found for names in less):
                continue
            least = sum(-fact.terms[names] * found[names[0]] for names in less) - fact.terms.get((), 0)
            if least >= 0:
                found[more[0][0]] = max(least, found.get(more[0][0], 0))
        if found == before:
            break
    return found
