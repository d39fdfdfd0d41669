import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  getScratchDir,
  isDirectory,
  toNullIfMissing,
  withBorrowedObjects,
  writePackedRefs,
} from './bare-repository.ts'
import type { RemoteTip } from './fetch.ts'
import { buildLocalIsolation } from './isolation.ts'
import type { ObjectFormat } from './object-format.ts'
import { createGitRunner, type GitRunner, type GitTask, toSilentTask } from './runner.ts'

// Repacking

/** git's own thresholds for housekeeping. */
const LOOSE_LIMIT = 6_700
const PACK_LIMIT = 50

/** Object names are digests, so one of the 256 folders represents all. */
export function isScattered(dir: string): boolean {
  const objects = join(dir, 'objects')
  return (
    listFilesIfPresent(join(objects, '17')).length * 256 > LOOSE_LIMIT || countPacks(objects) > PACK_LIMIT
  )
}

function countPacks(objects: string): number {
  return listFilesIfPresent(join(objects, 'pack')).filter(name => name.endsWith('.pack')).length
}

/** Repacking removes empty folders. */
function listFilesIfPresent(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    return toNullIfMissing(error) ?? []
  }
}

/** Repacks without dropping objects: unreachable ones may belong to another process that pushes them later. */
export function buildRepackTask(gitDir: string): GitTask<void> {
  const settings = ['pack.threads=1', 'pack.window=0', 'repack.writeBitmaps=false']
  const config = settings.flatMap(setting => ['-c', setting])
  return toSilentTask([`--git-dir=${gitDir}`, ...config, 'repack', '--geometric=2', '-d', '-l', '-q', '-n'])
}

// Repository of the user

export interface LocalRemote {
  /** True if a push may stay one pack, which git stores faster than single objects. */
  canKeepPacks(): Promise<boolean>
  /** True if it has more packs than git's limit, so that a push by its owner would trigger housekeeping. */
  isScattered(): Promise<boolean>
  packUp(): Promise<void>
}

/**
 * winnow's pushes start no housekeeping, which could run next to a timed execution, so winnow repacks later.
 * Does neither where the owner configured how pushes are stored or disabled housekeeping.
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

/** Returns false for a partial clone: git 2.39 loses the promisor mark of its packs on repacking. */
async function hasDefaultHousekeeping(objects: string, owner: GitRunner): Promise<boolean> {
  if (listFilesIfPresent(join(objects, 'pack')).some(name => name.endsWith('.promisor'))) return false
  return (await owner.run(listHousekeepingSettings(dirname(objects)))).length === 0
}

const HOUSEKEEPING_SETTING =
  /^(?:gc\.auto(?:packlimit)?|receive\.autogc|maintenance\.auto|(?:receive|transfer)\.unpacklimit)$/

/** Lists housekeeping settings from every scope except this command's own. */
function listHousekeepingSettings(gitDir: string): GitTask<string[]> {
  return {
    args: [`--git-dir=${gitDir}`, 'config', '--list', '--show-scope', '--name-only', '-z'],
    parse: ({ stdout }) => {
      const fields = stdout.split('\0')
      return fields.filter(
        (name, at) => at % 2 === 1 && fields[at - 1] !== 'command' && HOUSEKEEPING_SETTING.test(name),
      )
    },
  }
}

// Bundles

interface BundleRequest {
  /** One of winnow's repositories, with all objects reachable from `tips`. */
  dir: string
  format: ObjectFormat
  tips: readonly RemoteTip[]
  /** Absolute path. */
  file: string
  env: Readonly<Record<string, string>>
}

/**
 * Writes branches with their whole history to one bundle file, which git verifies. Names the branches in a
 * temporary repository that borrows the objects.
 */
export function saveBundle({ dir, format, tips, file, env }: BundleRequest): Promise<void> {
  return withBorrowedObjects({ near: getScratchDir(dir), from: dir, format, env }, async repository => {
    await writePackedRefs(repository, tips)
    const git = createGitRunner(buildLocalIsolation(repository, env))
    await git.run(toSilentTask(['bundle', 'create', '-q', file, '--all']))
    await git.run(toSilentTask(['bundle', 'verify', '-q', file]))
  })
}
