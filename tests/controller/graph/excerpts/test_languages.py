"""What each language shows of itself: the class in use with its comment, fields and methods, and what is beside it."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from packets.plan import Plan

GO = {
    "go.mod": """\
module shop

go 1.22
""",
    "money/money.go": """\
package money

// Money is an amount.
type Money struct {
	// Cents of it.
	Cents int
	code  string
}

// Add sums up.
func (m Money) Add(o Money) Money {
	return Money{m.Cents + o.Cents, m.code}
}

type Adder interface {
	Add(o Money) Money
}

func Zero() Money { return Money{} }
""",
    "shop/engine.go": """\
package shop

import "shop/money"

func Total(m money.Money) money.Money {
	return m.Add(money.Zero())
}
""",
    "shop/other.go": """\
package shop

func Use() { Total(nil) }
""",
}
SCRIPT = {
    "package.json": """\
{}""",
    "src/money.ts": """\
/** An amount. */
export class Money {
  readonly cents: number;
  private code = 'EUR';
  private hidden() {}
  constructor(cents: number) { this.cents = cents; }
  /** Sums. */
  add(other: Money): Money { return new Money(this.cents + other.cents); }
}
export interface Rate {
  percent: number;
  of(m: Money): Money;
}
export function zero(): Money { return new Money(0); }
export const RATE: Rate = { percent: 1 } as Rate;
""",
    "src/engine.ts": """\
import { Money, zero } from './money';
export function total(m: Money): Money {
  return m.add(zero());
}
""",
    "src/use.ts": """\
import { total } from './engine';
export const x = () => total(null);
""",
}
RUST = {
    "Cargo.toml": """\
[package]
name = "shop"
""",
    "src/lib.rs": """\
pub mod money;
pub mod engine;
pub mod uses;
""",
    "src/money.rs": """\
/// An amount.
#[derive(Clone, Debug)]
pub struct Money {
    pub cents: i64,
    code: String,
}

impl Money {
    /// Sums.
    pub fn add(&self, other: &Money) -> Money {
        Money { cents: self.cents + other.cents, code: String::new() }
    }
    fn hidden(&self) {}
}

pub enum Rate {
    Flat(i64),
    Percent { of: i64 },
}

pub trait Sum {
    fn sum(&self) -> Money;
}

pub fn zero() -> Money {
    Money { cents: 0, code: String::new() }
}
""",
    "src/engine.rs": """\
use crate::money::{zero, Money};

pub fn total(m: &Money) -> Money {
    m.add(&zero())
}
""",
    "src/uses.rs": """\
use crate::engine::total;

pub fn go() {
    total(&crate::money::zero());
}
""",
}
JAVA = {
    "src/main/java/shop/Money.java": """\
package shop;

/**
 * An amount.
 */
@Immutable
public class Money {
    private final long cents;
    public static final int RATE = 1;

    public Money(long cents) {
        this.cents = cents;
    }

    /** Sums. */
    public Money add(Money other) {
        return new Money(cents + other.cents);
    }

    private void hidden() {}
}
""",
    "src/main/java/shop/Engine.java": """\
package shop;

public class Engine {
    Money total(Money m) {
        return m.add(new Money(0));
    }
}
""",
    "src/main/java/shop/Use.java": """\
package shop;

class Use {
    void go() {
        new Engine().total(null);
    }
}
""",
}
CPP = {
    "money.hpp": """\
#pragma once

/// An amount.
class Money {
public:
    explicit Money(long cents);
    Money add(const Money& other) const;
    long cents;
private:
    void hidden();
};

Money zero();
""",
    "money.cpp": """\
#include "money.hpp"

Money::Money(long c) : cents(c) {}
Money Money::add(const Money& other) const { return Money(cents + other.cents); }
Money zero() { return Money(0); }
""",
    "engine.cpp": """\
#include "money.hpp"

Money total(const Money& m) {
    return m.add(zero());
}
""",
}
C = {
    "money.h": """\
/* An amount. */
struct money {
    long cents;
    const char *code;
};

/* Sums. */
struct money money_add(struct money a, struct money b);
#define RATE 3
""",
    "money.c": """\
#include "money.h"

struct money money_add(struct money a, struct money b) {
    a.cents += b.cents;
    return a;
}
""",
    "engine.c": """\
#include "money.h"

struct money total(struct money m) {
    return money_add(m, m);
}
""",
}


@pytest.fixture
def shown(repo: Any, plan: Callable[..., Plan]) -> Callable[..., tuple[dict[str, str], dict[str, str]]]:
    def both(files: Mapping[str, str], scope: str) -> tuple[dict[str, str], dict[str, str]]:
        whole = plan([{"id": "E", "write_scope": [scope]}])
        found = repo.knowledge.excerpt(repo.tree(files), whole, whole.module("E"))
        surface = {f"{each.at} {each.signature}".strip(): each.lines for each in found.surface}
        return surface, {each.at: each.code for each in found.dependents}

    return both


@pytest.mark.parametrize(
    ("files", "scope", "entry", "lines"),
    [
        (GO, "shop/engine.go", "money/money.go:4 Money struct",
         ["// Money is an amount.", "Cents int", "code  string", "func (m Money) Add(o Money) Money"]),
        (SCRIPT, "src/engine.ts", "src/money.ts:2 class Money",
         ["// An amount.", "readonly cents: number", "constructor(cents: number)", "add(other: Money): Money"]),
        (RUST, "src/engine.rs", "src/money.rs:3 pub struct Money",
         ["#[derive(Clone, Debug)]", "// An amount.", "pub cents: i64,", "code: String,",
          "pub fn add(&self, other: &Money) -> Money", "fn hidden(&self)"]),
        (JAVA, "src/main/java/shop/Engine.java", "src/main/java/shop/Money.java:7 public class Money",
         ["@Immutable", "// An amount.", "public static final int RATE = 1", "public Money(long cents)",
          "public Money add(Money other)"]),
        (CPP, "engine.cpp", "money.hpp:4 class Money",
         ["// An amount.", "long cents;", "explicit Money(long cents);", "Money add(const Money& other) const;",
          "void hidden();"]),
        (C, "engine.c", "money.h:2 struct money", ["// An amount.", "long cents;", "const char *code;"]),
    ],
)  # fmt: skip
def test_a_class_in_use(shown: Any, files: Mapping[str, str], scope: str, entry: str, lines: list[str]) -> None:
    assert shown(files, scope)[0][entry].split("\n") == lines


@pytest.mark.parametrize(
    ("files", "scope", "outline", "lines"),
    [
        (GO, "shop/engine.go", "money/money.go:1", "Adder interface\n  Add(o Money) Money"),
        (SCRIPT, "src/engine.ts", "src/money.ts:1", "interface Rate\n  of(m: Money): Money"),
        (RUST, "src/engine.rs", "src/money.rs:1", "pub enum Rate\npub trait Sum\n  fn sum(&self) -> Money;"),
        (JAVA, "src/main/java/shop/Engine.java", "src/main/java/shop/Use.java:1", "class Use\n  void go()"),
        (CPP, "engine.cpp", "money.hpp:1", "Money zero();"),
        (C, "engine.c", "money.h:1", "#define RATE 3"),
    ],
)
def test_what_is_beside_it(shown: Any, files: Mapping[str, str], scope: str, outline: str, lines: str) -> None:
    assert lines in shown(files, scope)[0][outline]


@pytest.mark.parametrize(
    ("files", "scope", "at", "code"),
    [
        (GO, "shop/engine.go", "shop/other.go:3", "func Use() { Total(nil) }"),
        (SCRIPT, "src/engine.ts", "src/use.ts:2", "export const x = () => total(null);"),
        (RUST, "src/engine.rs", "src/uses.rs:4", "total(&crate::money::zero());"),
        (JAVA, "src/main/java/shop/Engine.java", "src/main/java/shop/Use.java:5", "new Engine().total(null);"),
    ],
)
def test_who_uses_it(shown: Any, files: Mapping[str, str], scope: str, at: str, code: str) -> None:
    assert shown(files, scope)[1][at] == code
