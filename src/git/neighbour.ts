import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { listFilesIfPresent, PACK_LIMIT, countPacks, buildRepackTask } from './pack-up.ts'
import type { GitRunner, GitTask } from './runner.ts'

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
