import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { patchOf, type Yard, yard } from '../test/engine/yard.ts'
import { row } from './table.ts'

const EXPERIMENTS = 24
const FILES = 24

/** Engine time per experiment against the least that plain git can do for one, both in this run. */
export async function overhead(): Promise<void> {
  const floor = floorMs()
  const landing = await campaignMs(index => `${'x'.repeat(40 - index)}\n`)
  const losing = await campaignMs(() => `${'x'.repeat(60)}\n`)
  row('plain git: worktree add, run, add, commit', `${floor.toFixed(1)} ms`)
  row('experiment that lands (its own file)', `${landing.toFixed(1)} ms`, landing / floor, 3)
  row('experiment that loses', `${losing.toFixed(1)} ms`, losing / floor, 3)
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

async function campaignMs(content: (index: number) => string): Promise<number> {
  const before = `${'x'.repeat(50)}\n`
  const files: Record<string, string> = { 'bench/size.sh': HARNESS }
  for (let i = 0; i < FILES; i++) files[`src/${i}.txt`] = before
  for (let i = 0; i < EXPERIMENTS; i++) {
    const idea = { hypothesis: `file ${i}`, category: `c${i}` }
    files[`ideas/${String(i).padStart(2, '0')}.patch`] = patchOf(
      { [`src/${i}.txt`]: [before, content(i)] },
      idea,
    )
  }
  const site: Yard = await yard({ files, spec: SPEC, remote: true })
  await site.start()
  const began = performance.now()
  await site.run()
  const elapsed = performance.now() - began
  const { loaded } = await site.campaign()
  if (loaded.campaign.ended !== EXPERIMENTS) throw new Error(`${loaded.campaign.ended} experiments ended`)
  await site.close()
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
