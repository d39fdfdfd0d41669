import type { ChildProcess } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { shorter, SIZE_FILES, SIZE_SPEC } from '../support/size-repository.ts'
import { gitIn } from '../git/scratch.ts'
import { type CommandLine, type Ended, ended } from './command-line.ts'
import { type Scene, scene } from './scene.ts'

export const PATIENCE = { timeout: 30_000, interval: 20 }
export const BRANCH = 'optimize-exp/size/exp-001'

/**
 * Counts bytes. Where `a.txt` is short it leaves a child of a session of its own behind, says so, and does not
 * end before somebody takes the file called hold out of HOME. Two at a time are noted.
 */
const HARNESS = `#!/bin/sh
mkdir "$HOME/alone" 2>/dev/null || touch "$HOME/beside"
if [ "$(wc -c < src/a.txt)" -lt 9 ] && [ -e "$HOME/hold" ] && [ "$1" != quick ]; then
  setsid sh -c "sleep 1000; : $HOME/child" &
  touch "$HOME/measuring"
  while [ -e "$HOME/hold" ]; do sleep 0.02; done
fi
rmdir "$HOME/alone" 2>/dev/null
printf '{"bytes": %s}' "$(cat src/*.txt | wc -c)"
`

/** Samples are compared with a stored score: one measurement at a time. */
export const TIMED = SIZE_SPEC.replace(
  'timeout_seconds: 60',
  'timeout_seconds: 60, stability: { mode: stable }',
)

export interface Running {
  at: Scene
  child: ChildProcess
  end: Promise<Ended>
  /** What it has told its person so far. */
  told: () => string
  release: () => void
}

export interface Middle {
  spec?: string
  files?: Record<string, string>
  env?: Record<string, string>
}

export function holdingScene({ spec = SIZE_SPEC, files = {} }: Middle = {}): Scene {
  const all = { ...SIZE_FILES, 'bench/size.sh': HARNESS, 'ideas/1.patch': shorter('a', 3), ...files }
  const passing = spec.replace('timeout_seconds: 60', 'timeout_seconds: 60, env: [HOME]')
  return scene({ ...all, '.winnow/size.yaml': passing }, { remote: true })
}

/** A run in the middle of an execution that does not end by itself. */
export async function inTheMiddle(commandLine: CommandLine, middle: Middle = {}): Promise<Running> {
  const at = holdingScene(middle)
  const hold = join(at.home, 'hold')
  writeFileSync(hold, '')
  const child = commandLine.start(at, ['run'], middle.env)
  let told = ''
  child.stderr?.on('data', chunk => (told += String(chunk)))
  const end = ended(child)
  await vi.waitFor(
    () => expect([existsSync(join(at.home, 'measuring')), told]).toEqual([true, told]),
    PATIENCE,
  )
  return { at, child, end, told: () => told, release: () => rmSync(hold) }
}

/** Somebody pushes these files on top of a branch, from elsewhere. */
export function push(at: Scene, branch: string, files: Record<string, string>): void {
  const elsewhere = join(at.home, 'elsewhere')
  at.origin('clone', '-q', '--branch', branch, '.', elsewhere)
  const git = gitIn(elsewhere)
  for (const [path, content] of Object.entries(files)) writeFileSync(join(elsewhere, path), content)
  git('add', '-A')
  git('commit', '-q', '-m', 'by hand')
  git('push', '-q', 'origin', `HEAD:${branch}`)
  rmSync(elsewhere, { recursive: true })
}
