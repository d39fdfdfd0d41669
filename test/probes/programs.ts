import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { SOURCES } from './sources.ts'

function ask(program: string, ...argv: string[]): string | null {
  const { stdout, status } = spawnSync(program, argv, { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}

/** Version managers put scripts in front of programs, which are slow and need the home of a person. */
const PYTHON = ask('python3', '-c', 'import sys; print(sys.executable)') ?? 'python3'
const SYSROOT = ask('rustc', '--print', 'sysroot')
const RUSTC = SYSROOT === null ? 'rustc' : join(SYSROOT, 'bin/rustc')

/** A program around the module of `SOURCES`: `timed` prints milliseconds of its own clock, a number prints the sum. */
export interface Program {
  files: Record<string, string>
  setup: string | null
  run: string
  /** Additions that take some tenths of a second. */
  count: number
}

function withSource(language: string, files: Record<string, string>): Record<string, string> {
  const { path, content } = SOURCES[language] ?? { path: '', content: '' }
  return { ...files, [path]: content }
}

export const PROGRAMS: Readonly<Record<string, Program>> = {
  javascript: {
    files: withSource('javascript', {
      'bench/main.mjs': `import { sum } from '../src/sum.mjs'
const [, , word, count] = process.argv
const start = performance.now()
const answer = sum(Number(count))
console.log(word === 'timed' ? JSON.stringify({ ms: performance.now() - start }) : answer)
`,
    }),
    setup: null,
    run: 'node bench/main.mjs',
    count: 20_000_000,
  },
  commonjs: {
    files: withSource('commonjs', {
      'bench/main.cjs': `const { sum } = require('../src/sum.cjs')
const [, , word, count] = process.argv
const start = process.hrtime.bigint()
const answer = sum(Number(count))
console.log(word === 'timed' ? JSON.stringify({ ms: Number(process.hrtime.bigint() - start) / 1e6 }) : answer)
`,
    }),
    setup: null,
    run: 'node bench/main.cjs',
    count: 20_000_000,
  },
  python: {
    files: withSource('python', {
      'bench/main.py': `import json, sys, time
sys.path.insert(0, "src")
from sums import total
word, count = sys.argv[1:]
start = time.perf_counter()
answer = total(int(count))
print(json.dumps({"ms": (time.perf_counter() - start) * 1000}) if word == "timed" else answer)
`,
    }),
    setup: null,
    run: `${PYTHON} bench/main.py`,
    count: 4_000_000,
  },
  rust: {
    files: withSource('rust', {
      'bench/main.rs': `fn main() {
    let words: Vec<String> = std::env::args().collect();
    let start = std::time::Instant::now();
    let answer = sums::sum(words[2].parse().unwrap());
    let ms = start.elapsed().as_secs_f64() * 1000.0;
    if words[1] == "timed" { println!("{{\\"ms\\": {ms}}}") } else { println!("{answer}") }
}
`,
    }),
    setup: `${RUSTC} -O --edition 2021 --crate-type rlib --crate-name sums -o bench/libsums.rlib src/lib.rs && ${RUSTC} -O --edition 2021 --extern sums=bench/libsums.rlib -o bench/main bench/main.rs`,
    run: './bench/main',
    count: 60_000_000,
  },
  java: {
    files: withSource('java', {
      'bench/Main.java': `public class Main {
    public static void main(String[] words) {
        int count = Integer.parseInt(words[1]);
        long start = System.nanoTime();
        long answer = Sum.sum(count);
        double ms = (System.nanoTime() - start) / 1e6;
        System.out.println(words[0].equals("timed") ? "{\\"ms\\": " + ms + "}" : "" + answer);
    }
}
`,
    }),
    setup: 'javac -d bench/classes src/Sum.java bench/Main.java',
    run: 'java -Xshare:auto -XX:TieredStopAtLevel=1 -cp bench/classes Main',
    count: 60_000_000,
  },
  c: {
    files: withSource('c', {
      'src/sum.h': 'long sum(long count);\n',
      'bench/main.c': `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../src/sum.h"
int main(int words, char **word) {
  struct timespec start, end;
  timespec_get(&start, TIME_UTC);
  long answer = words < 3 ? 0 : sum(atol(word[2]));
  timespec_get(&end, TIME_UTC);
  double ms = (end.tv_sec - start.tv_sec) * 1e3 + (end.tv_nsec - start.tv_nsec) / 1e6;
  if (strcmp(word[1], "timed") == 0) printf("{\\"ms\\": %f}\\n", ms);
  else printf("%ld\\n", answer);
}
`,
    }),
    setup: 'gcc -O2 -o bench/main bench/main.c src/sum.c',
    run: './bench/main',
    count: 60_000_000,
  },
  cpp: {
    files: withSource('cpp', {
      'bench/main.cpp': `#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
long sum(long count);
int main(int, char **word) {
  auto start = std::chrono::steady_clock::now();
  long answer = sum(std::atol(word[2]));
  std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start;
  if (word[1] == std::string("timed")) std::cout << "{\\"ms\\": " << ms.count() << "}\\n";
  else std::cout << answer << "\\n";
}
`,
    }),
    setup: 'g++ -O2 -o bench/main bench/main.cpp src/sum.cpp',
    run: './bench/main',
    count: 60_000_000,
  },
  shell: {
    files: withSource('shell', {
      'bench/main.sh': `. ./src/sum.sh
start=$(date +%s%N)
answer=$(sum "$2") || exit
end=$(date +%s%N)
if [ "$1" = timed ]; then echo "{\\"ms\\": $(((end - start) / 1000000)).5}"; else echo "$answer"; fi
`,
    }),
    setup: null,
    run: 'sh bench/main.sh',
    count: 60_000,
  },
}

/** The sum that every program prints. */
export function computeSum(count: number): number {
  let all = 0
  for (let at = 0; at < count; at += 1) all = (all * 31 + at) % 1_000_003
  return all
}

/** Runs the program in a process of its own, times it from outside and compares its answer. */
export function writeGuardedHarness({ run, count }: Program): string {
  return `import { spawnSync } from 'node:child_process'
const start = performance.now()
const { stdout, status } = spawnSync('${run} answer ${count}', { shell: true, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
const ms = performance.now() - start
if (status !== 0 || stdout !== '${computeSum(count)}\\n') process.exit(1)
console.log(JSON.stringify({ ms }))
`
}
