import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { patchOf } from '../test/support/patch-text.ts'
import { site } from './site.ts'
import { row } from './table.ts'

const EXPERIMENTS = 24
const FILES = 24

const ROUNDS = 5

const shorter = (index: number) => `${'x'.repeat(40 - index)}\n`
const longer = () => `${'x'.repeat(60)}\n`

/** Engine time per experiment against the least that plain git can do for one, both in this run. */
export async function overhead(): Promise<void> {
  const serial = `${SPEC}execution: { mode: serial }\n`
  const kinds = [
    { what: 'lands, one at a time', run: () => campaignMs(serial, shorter), budget: 3 },
    { what: 'loses, one at a time', run: () => campaignMs(serial, longer), budget: 3 },
    { what: 'loses, in rounds of four', run: () => campaignMs(SPEC, longer), budget: 3 },
    { what: 'lands as a runner-up (measured twice)', run: () => campaignMs(SPEC, shorter) },
  ]
  await campaignMs(SPEC, () => 'warm\n')
  const floors: number[] = []
  const taken = kinds.map(() => ({ each: [] as number[], ratios: [] as number[] }))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, { run }] of kinds.entries()) {
      const [before, each, after] = [floorMs(), await run(), floorMs()]
      floors.push(before, after)
      taken[at]?.each.push(each)
      taken[at]?.ratios.push((2 * each) / (before + after))
    }
  }
  row('plain git: worktree add, run, add, commit', `${median(floors).toFixed(1)} ms`)
  for (const [at, { what, budget }] of kinds.entries()) {
    const { each = [], ratios = [] } = taken[at] ?? {}
    row(`an experiment that ${what}`, `${median(each).toFixed(1)} ms`, median(ratios), budget)
  }
}

/** The machines this runs on are shared: the floor is taken just before and just after, so that both are slowed. */
function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

const HARNESS = '#!/bin/sh\nprintf \'{"bytes": %s}\' "$(cat src/*.txt | wc -c)"\n'

function floorMs(): number {
  const root = mkdtempSync(join(tmpdir(), 'winnow-floor-'))
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', join(root, 'repo'), '-c', 'user.name=n', '-c', 'user.email=e', ...args], {
      stdio: 'pipe',
    })
  execFileSync('git', ['init', '-q', join(root, 'repo')])
  execFileSync('mkdir', ['-p', join(root, 'repo/src'), join(root, 'repo/bench')])
  for (let i = 0; i < FILES; i++) writeFileSync(join(root, 'repo/src', `${i}.txt`), `${'x'.repeat(50)}\n`)
  writeFileSync(join(root, 'repo/bench/size.sh'), HARNESS)
  git('add', '-A')
  git('commit', '-q', '-m', 'start')
  const began = performance.now()
  for (let i = 0; i < EXPERIMENTS; i++) {
    const tree = join(root, `tree-${i}`)
    git('worktree', 'add', '-q', '-b', `exp-${i}`, tree)
    writeFileSync(join(tree, 'src', `${i}.txt`), 'short\n')
    execFileSync('sh', ['bench/size.sh'], { cwd: tree })
    execFileSync('git', ['-C', tree, 'add', '-A'])
    execFileSync('git', ['-C', tree, '-c', 'user.name=n', '-c', 'user.email=e', 'commit', '-q', '-m', 'idea'])
  }
  const elapsed = performance.now() - began
  rmSync(root, { recursive: true, force: true })
  return elapsed / EXPERIMENTS
}

async function campaignMs(spec: string, content: (index: number) => string): Promise<number> {
  const before = `${'x'.repeat(50)}\n`
  const files: Record<string, string> = { 'bench/size.sh': HARNESS, '.winnow/size.yaml': spec }
  for (let i = 0; i < FILES; i++) files[`src/${i}.txt`] = before
  for (let i = 0; i < EXPERIMENTS; i++) {
    const idea = { hypothesis: `file ${i}`, category: `c${i}` }
    files[`ideas/${String(i).padStart(2, '0')}.patch`] = patchOf(
      { [`src/${i}.txt`]: [before, content(i)] },
      idea,
    )
  }
  const made = await site(files)
  const elapsed = await made.run()
  const ended = await made.ended()
  if (ended !== EXPERIMENTS) throw new Error(`${ended} experiments ended`)
  await made.remove()
  return elapsed / EXPERIMENTS
}

const SPEC = `winnow: 1
metric:
  primary: { name: bytes, direction: minimize }
  degenerate_gates: [{ name: bytes, check: ">= 1" }]
measurement: { command: sh bench/size.sh, mode: once, probes: off }
scope: { mutable: [src/] }
propose: [{ use: patch, dir: ideas }]
`
