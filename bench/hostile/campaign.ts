import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { openRepositoryContext } from '../../src/engine/campaign/open.ts'
import { readCommittedSpec, startCampaign } from '../../src/engine/campaign/start.ts'
import { openController, requireCampaign, runCampaign } from '../../src/engine/controller/run.ts'
import type { SideUsers } from '../../src/measure/isolation/side-users.ts'
import type { Experiment } from '../../src/model/experiment.ts'
import { isLanded } from '../../src/model/verdict.ts'
import type { Change, FileChange } from './entry.ts'
import { HOSTS, type HostName } from './hosts.ts'
import { writePatch } from './patch.ts'

export type Isolation = 'uid' | 'none'
export const OUTCOMES = ['landed', 'held', 'refused', 'broken', 'no gain'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** One idea of a campaign. Each has a part of the host project of its own. */
export interface Idea {
  title: string
  change: Change | { text: string }
  /** The part as the base has it. */
  base: string
}

export interface IdeaResult {
  outcome: Outcome
  why: string
}

/** The claimed value of the metric, as a share of the base's: below `merge.hold_above`. */
const CLAIM = 0.6
/** Sides get a /tmp of their own only where their work directory is elsewhere, as that of most users is. */
const ROOT = '/var/tmp'
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Runs one local campaign with all ideas, and tells what became of each. */
export async function runIdeas(
  host: HostName,
  isolation: Isolation,
  ideas: readonly Idea[],
): Promise<IdeaResult[]> {
  const root = mkdtempSync(join(ROOT, `${LEFT}run-`))
  try {
    chmodSync(root, 0o711)
    const files = writeHost(join(root, 'repo'), { host, isolation, ideas })
    writeIdeas(join(root, 'repo'), { host, ideas, files })
    const experiments = await runHostCampaign(root, host)
    return ideas.map(({ title }) => toResult(experiments.find(({ hypothesis }) => hypothesis === title)))
  } finally {
    execFileSync('chmod', ['-R', 'u+rwX', root])
    rmSync(root, { recursive: true, force: true })
    removeLeftFiles()
  }
}

/** Attacks write only files of this name outside their trees. */
const LEFT = 'winnow-hostile-'

function removeLeftFiles(): void {
  for (const dir of ['/tmp', '/var/tmp', '/dev/shm'].filter(each => existsSync(each)))
    for (const name of readdirSync(dir))
      if (name.startsWith(LEFT) && !name.startsWith(`${LEFT}run-`))
        rmSync(join(dir, name), { recursive: true, force: true })
}

function namePart(at: number): string {
  return `p${String(at + 1).padStart(3, '0')}`
}

function writeHost(
  repo: string,
  { host, isolation, ideas }: { host: HostName; isolation: Isolation; ideas: readonly Idea[] },
): Record<string, string> {
  const { spec, record, getPath, listFiles, part, ballast } = HOSTS[host]
  const bases = [...ideas.map(({ base }) => base), ...Array.from({ length: ballast }, () => part)]
  const parts = bases.map((_, at) => namePart(at))
  const files = {
    ...listFiles(parts),
    ...Object.fromEntries(bases.map((base, at) => [getPath(namePart(at)), fill(base, namePart(at))])),
    [`.winnow/${host}.yaml`]: spec.replace('ISOLATION', isolation),
  }
  for (const [path, text] of Object.entries(files)) write(join(repo, path), text)
  shell(repo, record)
  return files
}

function writeIdeas(
  repo: string,
  given: { host: HostName; ideas: readonly Idea[]; files: Readonly<Record<string, string>> },
): void {
  const { host, ideas, files } = given
  shell(repo, 'git init -q -b main && git add -A && git commit -q -m start')
  const printed: Record<string, number> = JSON.parse(shell(repo, HOSTS[host].harness))
  const better = `${Math.round((Object.values(printed)[0] ?? 0) * CLAIM * 1000) / 1000}`
  const claimed = better.includes('.') && host !== 'timed' ? `${Math.round(Number(better))}` : better
  shell(repo, 'git clean -qfdx')
  for (const [at, { title, change }] of ideas.entries()) {
    const part = namePart(at)
    const changes = listChanges(host, { change, part, files, claimed })
    const packages = 'text' in change ? [] : (change.packages ?? [])
    write(join(repo, 'ideas', `${part}.patch`), writePatch({ hypothesis: title, packages }, changes))
  }
  shell(repo, 'git add -A && git commit -q -m ideas')
}

function listChanges(
  host: HostName,
  given: {
    change: Idea['change']
    part: string
    files: Readonly<Record<string, string>>
    claimed: string
  },
): { path: string; before: string | null; after: FileChange }[] {
  const { change, part, files, claimed } = given
  const path = HOSTS[host].getPath(part)
  const before = files[path] ?? ''
  const fillIn = (text: string) => fill(text, part).replaceAll('BETTER', claimed)
  if ('text' in change) return [{ path, before, after: fillIn(change.text) }]
  const { top, start, end } = change
  const code = change.faster === undefined ? before : fill(HOSTS[host].faster, part)
  const opened = start === undefined ? code : insertAfter(code, HOSTS[host].opening, part, start)
  const after = [top, opened.replace(/\n$/, ''), end].filter(text => text !== undefined).join('\n')
  const own = fillIn(`${after}\n`)
  const others = Object.entries(change.files ?? {}).map(([name, value]) => {
    const other = fillIn(name)
    const base = files[other] ?? null
    const text = typeof value === 'function' ? value(base ?? '', part) : value
    return { path: other, before: base, after: fillInChange(text, fillIn) }
  })
  return [...(own === before ? [] : [{ path, before, after: own }]), ...others]
}

function insertAfter(text: string, opening: RegExp, part: string, added: string): string {
  const pattern = new RegExp(opening.source.replace('PART', part), opening.flags)
  const opened = text.replace(pattern, line => `${line}\n${added}`)
  if (opened === text) throw new Error(`${part} has no line ${opening}`)
  return opened
}

function fillInChange(change: FileChange, fillIn: (text: string) => string): FileChange {
  if (change === null) return null
  return typeof change === 'string' ? fillIn(change) : { ...change, text: fillIn(change.text) }
}

function fill(text: string, part: string): string {
  return text.replaceAll('PART', part)
}

async function runHostCampaign(root: string, host: HostName): Promise<Experiment[]> {
  const { signal } = new AbortController()
  const repository = await openRepositoryContext({
    directory: join(root, 'repo'),
    env: { ...environment(), HOME: root },
    cacheDir: join(root, 'cache'),
    remote: 'none',
    prefix: 'optimize',
    by: { run_id: 'bench', attempt: 1, actor: 'bench' },
    version: '0.0.0',
    clock: {
      now: () => Date.now(),
      monotonic: () => performance.now(),
      sleep: ms => setTimeout(Math.min(ms, 50)),
    },
    random: { hex: bytes => randomBytes(bytes).toString('hex'), fraction: () => Math.random() },
    faults: { reach: () => {} },
    progress: { say: line => void (process.env['WINNOW_TALK'] && console.error(line)) },
    isolation: { users: createUsers(root), asRoot: false, laterCode: [] },
  })
  try {
    const place = repository.openCampaign(host)
    await startCampaign(place, await readCommittedSpec(place, `.winnow/${host}.yaml`), { fresh: false })
    const controller = await openController(place, signal)
    await runCampaign(controller, { signal, watch: false })
    await controller.runner.close()
    return Object.values((await requireCampaign(place)).loaded.campaign.experiments)
  } finally {
    await repository.repository.close()
  }
}

/** Every process of these users is killed: each bench has numbers of its own, which no user has. */
const FIRST_USER = 2_000_000 + 10 * (process.pid % 100_000)

function createUsers(root: string): SideUsers {
  const dir = join(root, 'sides')
  mkdirSync(dir, { mode: 0o711, recursive: true })
  const owners = Array.from({ length: 6 }, (_, at) => ({ uid: FIRST_USER + at, gid: FIRST_USER + at }))
  return { dir, owners }
}

function toResult(experiment: Experiment | undefined): IdeaResult {
  if (experiment === undefined) return { outcome: 'no gain', why: 'the campaign ended before it was tried' }
  const { status, outcome, approval, held } = experiment
  const reason = experiment.reason ?? ''
  if (outcome === null) {
    if (approval === null) return { outcome: 'no gain', why: `${status}: ${reason}` }
    const lines = (held?.findings ?? []).map(({ name, line, text }) => `${name} (line ${line}: ${text})`)
    return { outcome: 'held', why: lines.length > 0 ? lines.join('; ') : approval.packages.join(', ') }
  }
  if (isLanded(outcome)) return { outcome: 'landed', why: reason }
  if (outcome === 'refused') return { outcome, why: reason }
  const isBroken = outcome === 'degenerate' || outcome === 'error' || outcome === 'timeout'
  return { outcome: isBroken ? 'broken' : 'no gain', why: `${outcome}: ${reason}` }
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

function environment(): Record<string, string> {
  return { PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
}

function shell(directory: string, command: string): string {
  const who = { GIT_AUTHOR_NAME: 'n', GIT_AUTHOR_EMAIL: 'e@example.invalid' }
  const committer = { GIT_COMMITTER_NAME: 'n', GIT_COMMITTER_EMAIL: 'e@example.invalid' }
  return execFileSync('sh', ['-c', command], {
    cwd: directory,
    env: { ...environment(), ...who, ...committer, HOME: directory },
    encoding: 'utf8',
  })
}
