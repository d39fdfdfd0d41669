import { readdirSync, statSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createBareRepository, getScratchDir, toNullIfMissing } from './bare-repository.ts'
import type { RemoteTip } from './fetch.ts'
import { buildLocalIsolation } from './isolation.ts'
import type { ObjectFormat } from './object-format.ts'
import { createGitRunner, type GitRunner, type GitTask } from './runner.ts'

/** Where git's own housekeeping would begin. */
const LOOSE_LIMIT = 6_700
const PACK_LIMIT = 50

/**
 * Whether objects are so many single files, or packs, that git gets slow over them. Names are digests: one of the
 * 256 folders stands for all.
 */
export function isScattered(dir: string): boolean {
  const objects = join(dir, 'objects')
  return (
    listFilesIfPresent(join(objects, '17')).length * 256 > LOOSE_LIMIT || countPacks(objects) > PACK_LIMIT
  )
}

function countPacks(objects: string): number {
  return listFilesIfPresent(join(objects, 'pack')).filter(name => name.endsWith('.pack')).length
}

/** Packing up takes emptied folders away. */
function listFilesIfPresent(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    return toNullIfMissing(error) ?? []
  }
}

/**
 * Puts together what is scattered and drops nothing: objects here have no branch to hold them, and another process
 * may push tomorrow what it wrote today.
 */
export function buildRepackTask(gitDir: string): GitTask<void> {
  const settings = [
    `--git-dir=${gitDir}`,
    '-c',
    'pack.threads=1',
    '-c',
    'pack.window=0',
    '-c',
    'repack.writeBitmaps=false',
  ]
  return { args: [...settings, 'repack', '--geometric=2', '-d', '-l', '-q', '-n'], parse: () => undefined }
}

/** A repository on this machine that takes our pushes and is somebody's own. */
export interface LocalRemote {
  /** whether a push may stay the one pack it comes as, which is stored sooner than its objects one by one */
  canKeepPacks(): Promise<boolean>
  /** whether it holds more packs than git puts up with, so that its next push would have them put together */
  isScattered(): Promise<boolean>
  packUp(): Promise<void>
}

/**
 * Pushes of ours start no housekeeping there, which would go on beside a timed execution, so what they leave is ours
 * to put together. Whoever configured how pushes are stored there, or that nobody tidies up, is left alone: their
 * pushes are stored as git does by itself.
 */
export function openLocalRemote(path: string, owner: GitRunner): LocalRemote {
  const objects = [join(path, 'objects'), join(path, '.git', 'objects')].find(isDirectory)
  let open: Promise<boolean> | undefined
  const isOpen = () =>
    (open ??= objects === undefined ? Promise.resolve(false) : hasDefaultHousekeeping(objects, owner))
  const packs = () => (objects === undefined ? 0 : countPacks(objects))
  return {
    canKeepPacks: async () => packs() <= PACK_LIMIT && (await isOpen()),
    isScattered: async () => packs() > PACK_LIMIT && (await isOpen()),
    packUp: async () => {
      if (objects !== undefined) await owner.run(buildRepackTask(dirname(objects)))
    },
  }
}

/** Whether its owner left it to git; what a partial clone lacks must stay marked as such, which git 2.39 forgets. */
async function hasDefaultHousekeeping(objects: string, owner: GitRunner): Promise<boolean> {
  if (listFilesIfPresent(join(objects, 'pack')).some(name => name.endsWith('.promisor'))) return false
  return (await owner.run(listHousekeepingSettings(dirname(objects)))).length === 0
}

const DECIDES =
  /^(?:gc\.auto(?:packlimit)?|receive\.autogc|maintenance\.auto|(?:receive|transfer)\.unpacklimit)$/

/** What anybody but this command configured about it. */
function listHousekeepingSettings(gitDir: string): GitTask<string[]> {
  return {
    args: [`--git-dir=${gitDir}`, 'config', '--list', '--show-scope', '--name-only', '-z'],
    parse: ({ stdout }) => {
      const fields = stdout.split('\0')
      return fields.filter((name, at) => at % 2 === 1 && fields[at - 1] !== 'command' && DECIDES.test(name))
    },
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

interface BundleRequest {
  /** A repository of ours in which everything that is reachable from the tips is present. */
  dir: string
  format: ObjectFormat
  tips: readonly RemoteTip[]
  /** Absolute. */
  file: string
  env: Readonly<Record<string, string>>
}

/**
 * Branches with their whole history in one file, as git itself would check it before bringing them back. They get
 * their own names in a repository that only borrows the objects.
 */
export async function saveBundle({ dir, format, tips, file, env }: BundleRequest): Promise<void> {
  const room = await mkdtemp(join(getScratchDir(dir), 'bundle-'))
  const borrowed = join(room, 'repository.git')
  try {
    await createBareRepository(borrowed, format, env)
    await writeFile(join(borrowed, 'objects/info/alternates'), `${join(dir, 'objects')}\n`)
    const lines = tips.toSorted((a, b) => (a.ref < b.ref ? -1 : 1)).map(({ ref, oid }) => `${oid} ${ref}\n`)
    await writeFile(join(borrowed, 'packed-refs'), `# pack-refs with: sorted \n${lines.join('')}`)
    const git = createGitRunner(buildLocalIsolation(borrowed, env))
    await git.run(buildBundleTask('create', file, '--all'))
    await git.run(buildBundleTask('verify', file))
  } finally {
    await rm(room, { recursive: true, force: true })
  }
}

function buildBundleTask(verb: 'create' | 'verify', file: string, ...what: string[]): GitTask<void> {
  return { args: ['bundle', verb, '-q', file, ...what], parse: () => undefined }
}
