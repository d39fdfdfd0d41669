/** A small module in each language, with a function that works, one that has a name only, and what a file may begin with. */
export const SOURCES: Readonly<Record<string, { path: string; content: string }>> = {
  javascript: {
    path: 'src/sum.mjs',
    content: `#!/usr/bin/env node
import { ok } from 'node:assert'

export function sum(count, { start = 0 } = {}) {
  let all = start
  for (let at = 0; at < count; at += 1) all = (all * 31 + at) % 1000003
  ok(all >= 0)
  return all
}

export const twice = (count) => {
  return sum(count) * 2
}

export class Adder {
  add(count) {
    if (count > 0) {
      return sum(count)
    }
    return 0
  }
}
`,
  },
  commonjs: {
    path: 'src/sum.cjs',
    content: `'use strict'
function sum(count) {
  let all = 0
  for (let at = 0; at < count; at += 1) all = (all * 31 + at) % 1000003
  return all
}
module.exports = { sum }
`,
  },
  typescript: {
    path: 'src/sum.ts',
    content: `export interface Options { start: number }

export function sum(count: number, options: Options = { start: 0 }): number {
  let all: number = options.start
  for (let at = 0; at < count; at += 1) all = (all * 31 + at) % 1000003
  return all
}
`,
  },
  python: {
    path: 'src/sums.py',
    content: `#!/usr/bin/env python3
# -*- coding: utf-8 -*-
"""Adds numbers."""
from __future__ import annotations

import math


def total(count: int, start: int = (0)) -> int:
    """Adds."""
    value = start
    for at in range(count):
        value = (value * 31 + at) % 1000003
    return math.floor(value)


class Adder:
    def __init__(self):
        self.calls = 0

    def add(self, count):

        self.calls += 1
        return total(count)
`,
  },
  go: {
    path: 'sum.go',
    content: `// Package sums adds.
package sums

import "errors"

func Sum(count int) int {
	all := 0
	for at := 0; at < count; at++ {
		all = (all*31 + at) % 1000003
	}
	return all
}

func Parse(text string, parse func(string) (int, error)) (int, error) {
	if text == "" {
		return 0, errors.New("empty")
	}
	return parse(text)
}

type Adder struct{}

func (a *Adder) Add(count int) (total int, err error) { return Sum(count), nil }
`,
  },
  rust: {
    path: 'src/lib.rs',
    content: `#![allow(dead_code)]
//! Adds.

pub struct Adder;

impl Adder {
    pub fn add(&self, count: u64) -> u64 {
        sum(count)
    }
}

pub fn sum(count: u64) -> u64 {
    let mut all = 0;
    for at in 0..count {
        all = (all * 31 + at) % 1_000_003;
    }
    all
}

pub fn parse<T: AsRef<str>>(text: T) -> Result<u64, std::num::ParseIntError>
where
    T: Clone,
{
    text.as_ref().parse()
}
`,
  },
  java: {
    path: 'src/Sum.java',
    content: `public final class Sum {
    private final long start;

    public Sum(long start) {
        this.start = start;
    }

    public static long sum(int count) {
        long all = 0;
        for (int at = 0; at < count; at++) {
            all = (all * 31 + at) % 1000003;
        }
        return all;
    }

    public String describe(java.util.List<String> names) throws Exception {
        return names + " " + start;
    }
}
`,
  },
  ruby: {
    path: 'lib/sums.rb',
    content: `# frozen_string_literal: true

module Sums
  def self.total(count, start: 0)
    (0...count).reduce(start) { |all, at| (all * 31 + at) % 1_000_003 }
  end

  def empty?
    false
  end
end
`,
  },
  c: {
    path: 'src/sum.c',
    content: `#define _GNU_SOURCE
#include "sum.h"

static const char *name(void)
{
  return "sum";
}

long sum(long count) {
  long all = name()[0] - 's';
  for (long at = 0; at < count; at++) {
    all = (all * 31 + at) % 1000003;
  }
  return all;
}
`,
  },
  cpp: {
    path: 'src/sum.cpp',
    content: `#include <string>

long sum(long count) {
  long all = 0;
  for (long at = 0; at < count; at++) all = (all * 31 + at) % 1000003;
  return all;
}

std::string describe(const std::string &text) {
  return text + "!";
}
`,
  },
  shell: {
    path: 'src/sum.sh',
    content: `# Adds.
sum() {
  all=0 at=0
  while [ "$at" -lt "$1" ]; do
    all=$(((all * 31 + at) % 1000003)) at=$((at + 1))
  done
  echo "$all"
}
`,
  },
}
