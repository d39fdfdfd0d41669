import type { EntryPoint } from '../findings.ts'
import type { Skeleton, SkeletonRequest } from './skeleton.ts'
import { describeEntry, renderHeadComment, renderWorkloadComment } from './words.ts'

/** A crate of its own, outside the project's workspace: nothing that exists has to be changed for it. */
export function buildRustHarness({ name, entry }: SkeletonRequest): Skeleton {
  const place = `bench/${name}`
  const manifest = `${place}/Cargo.toml`
  const path = `${place}/src/main.rs`
  const crate = `bench-${name}`
  return {
    files: [
      { path: manifest, text: renderCargoManifest(crate, entry) },
      { path, text: renderRustSource(`cargo run --release --manifest-path ${manifest}`, entry) },
    ],
    edit: path,
    command: `./${place}/target/release/${crate}`,
    build: `cargo build --release --quiet --manifest-path ${manifest} --target-dir ${place}/target`,
    calls: describeEntry(entry),
    buildsProject: entry !== null && entry.kind !== 'program',
  }
}

function renderCargoManifest(crate: string, entry: EntryPoint | null): string {
  const library = entry === null || entry.kind === 'program' ? null : getCrateName(entry)
  const subject = library === null ? '' : `\n[dependencies]\n${library} = { path = "../.." }\n`
  return `[package]
name = "${crate}"
version = "0.0.0"
edition = "2021"
publish = false
${subject}
[workspace]
`
}

function getCrateName(entry: Exclude<EntryPoint, { kind: 'program' }>): string {
  return entry.kind === 'module' ? entry.path : entry.module
}

function renderRustSource(command: string, entry: EntryPoint | null): string {
  const library =
    entry === null || entry.kind === 'program' ? 'my_crate' : getCrateName(entry).replaceAll('-', '_')
  return `${renderHeadComment('//', command)}
use std::hint::black_box;
use std::time::Instant;

${renderWorkloadComment('//', `${library}::parse(&input)`, entry)}
fn workload() -> usize {
${renderRustBody(entry, library)}
}
// ================================

/// Milliseconds of that many calls.
fn took(calls: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        black_box(workload());
    }
    start.elapsed().as_secs_f64() * 1000.0
}

fn main() {
    let mut calls = 1;
    while took(calls) < 5.0 {
        calls *= 2;
    }
    let mut times: Vec<f64> = (0..15).map(|_| took(calls) / f64::from(calls)).collect();
    times.sort_by(f64::total_cmp);
    println!("{{\\"milliseconds\\": {}, \\"output_bytes\\": {}}}", times[7], workload());
}
`
}

/** The size of the answer is returned, so that an answer that became empty shows. */
function renderRustBody(entry: EntryPoint | null, library: string): string {
  if (entry?.kind === 'function') return `    std::mem::size_of_val(&black_box(${library}::${entry.name}()))`
  if (entry?.kind === 'program') {
    return [
      `    let answer = std::process::Command::new("${entry.command}").arg("--help").output().unwrap();`,
      '    answer.stdout.len() + answer.stderr.len()',
    ].join('\n')
  }
  return [
    '    let mut numbers: Vec<u32> = (0..10_000).map(|n| n * 7919 % 10_007).collect();',
    '    numbers.sort();',
    '    black_box(numbers).len()',
  ].join('\n')
}
