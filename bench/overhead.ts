import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { patchOf } from '../test/engine/patch-text.ts'
import { site } from './site.ts'
import { row } from './table.ts'

const EXPERIMENTS = 24
const FILES = 24

/** Engine time per experiment against the least that plain git can do for one, both in this run. */
export async function overhead(): Promise<void> {
  await campaignMs(SPEC, () => 'warm\n')
  const floor = await medianOf(async () => floorMs())
  row('plain git: worktree add, run, add, commit', `${floor.toFixed(1)} ms`)
  const shorter = (index: number) => `${'x'.repeat(40 - index)}\n`
  const longer = () => `${'x'.repeat(60)}\n`
  for (const [what, spec, content] of [
    ['lands, one at a time', `${SPEC}execution: { mode: serial }\n`, shorter],
    ['loses, one at a time', `${SPEC}execution: { mode: serial }\n`, longer],
    ['loses, in rounds of four', SPEC, longer],
  ] as const) {
    const each = await medianOf(() => campaignMs(spec, content))
    row(`an experiment that ${what}`, `${each.toFixed(1)} ms`, each / floor, 3)
  }
  const combined = await medianOf(() => campaignMs(SPEC, shorter))
  row(
    'an experiment that lands as a runner-up (measured twice)',
    `${combined.toFixed(1)} ms`,
    combined / floor,
  )
}

/** Of three: the machines this runs on are shared. */
async function medianOf(measure: () => Promise<number>): Promise<number> {
  const values = [await measure(), await measure(), await measure()]
  return values.toSorted((a, b) => a - b)[1] ?? Number.NaN
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
measurement: { command: sh bench/size.sh, mode: once }
scope: { mutable: [src/] }
propose: [{ use: patch, dir: ideas }]
`
