import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, vi } from 'vitest'
import { openCampaignClient, type CampaignClient } from '../support/campaign-client.ts'
import { bareRemote, type Git, gitIn, userRepository } from '../git/scratch.ts'
import { untouched } from '../git/untouched.ts'
import type { Standing } from './command-line.ts'

/** A person's repository, with a bare remote beside it or without, and a home. */
export interface Scene extends Standing {
  /** git where the branches live. */
  origin: Git
  /** Looks with a winnow of this test's own process, which has a cache of its own. */
  look<T>(task: (client: CampaignClient) => Promise<T>, fault?: (point: string) => void): Promise<T>
  /** Processes that were started for it and live. */
  processes(): string[]
  /** What must hold of the person's things and of this machine, however often winnow was killed. */
  expectLeftAlone(): Promise<void>
}

/** The same files make the same commits, so that two scenes can be compared. */
export function scene(files: Record<string, string>, options: { remote: boolean }): Scene {
  const root = mkdtempSync(join(tmpdir(), 'winnow-kill-'))
  onTestFinished(() => {
    for (const pid of processesBelow(root)) process.kill(pid, 'SIGKILL')
    rmSync(root, { recursive: true, force: true, maxRetries: 3 })
  })
  const repo = join(root, 'repo')
  const home = join(root, 'home')
  mkdirSync(home)
  const user = userRepository({ empty: true, dir: repo })
  user.commit('start', files)
  if (options.remote) {
    bareRemote({ root })
    user.git('remote', 'add', 'origin', '../remote.git')
    user.git('push', '-q', 'origin', 'main')
  }
  const origin = options.remote ? join(root, 'remote.git') : repo
  const before = untouched(repo)
  const processes = () => processesBelow(root).flatMap(commandOf)
  return {
    repo,
    home,
    origin: gitIn(origin),
    async look(task, fault) {
      const cacheDir = mkdtempSync(join(root, 'look-'))
      const client = await openCampaignClient({
        name: 'size',
        directory: repo,
        cacheDir,
        remote: null,
        fault,
      })
      try {
        return await task(client)
      } finally {
        await client.close()
      }
    },
    processes,
    async expectLeftAlone() {
      before.check()
      const places = [join(repo, '.git'), origin].filter(place => existsSync(place))
      expect(places.flatMap(locksBelow)).toEqual([])
      await vi.waitFor(() => expect(processes()).toEqual([]), { timeout: 10_000 })
    },
  }
}

function locksBelow(dir: string): string[] {
  return pathsBelow(dir).filter(path => path.endsWith('.lock'))
}

/** Follows no link, as listing names alone would: the HOME of a side has a link to the folder that the side lies in. */
export function pathsBelow(dir: string): string[] {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true })
  return entries.map(entry => join(entry.parentPath, entry.name))
}

/** By where they stand, what they were called with, and the HOME they were given. */
function processesBelow(root: string): number[] {
  return readdirSync('/proc').flatMap(name => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return []
    return belongs(`/proc/${name}`, root) ? [Number(name)] : []
  })
}

function belongs(entry: string, root: string): boolean {
  try {
    const texts = [readlinkSync(`${entry}/cwd`), ...['cmdline', 'environ'].map(file => text(entry, file))]
    return texts.some(each => each.includes(root))
  } catch {
    // It has ended meanwhile, or is another user's: in neither case one of ours.
    return false
  }
}

function text(entry: string, file: string): string {
  return readFileSync(join(entry, file), 'latin1').replaceAll('\0', ' ')
}

function commandOf(pid: number): string[] {
  try {
    return [`${pid} ${text(`/proc/${pid}`, 'cmdline')}`]
  } catch {
    return []
  }
}
