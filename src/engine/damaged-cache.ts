import { join } from 'node:path'
import { formatCount } from '../decide/wording.ts'
import { findDamage, findDeepDamage, isPossibleDamage } from '../git/damage.ts'
import { moveDamagedAside } from '../git/put-aside.ts'
import { recoverCommits } from '../git/salvage.ts'
import { listNames } from '../measure/names-in.ts'
import type { Oid } from '../model/ids.ts'
import type { Report } from '../model/report.ts'
import { listStoredCommits } from '../propose/stored-answer.ts'

/** winnow's own repository, which is a cache: the remote, or the user's repository, has all that was pushed. */
export interface RepositoryCache {
  /** Where everything of one user's repository is kept, its campaigns included. */
  dataDir: string
  env: Readonly<Record<string, string>>
  say: (line: string) => void
}

export function getRepositoryDir(dataDir: string): string {
  return join(dataDir, 'repository.git')
}

/** Where programs' answers of a campaign are kept until they are recorded. */
export const ANSWERS = 'proposals'

/** Finds the damaged part of the repository after a failure; null where the failure has another cause. */
export async function findDamageCause(
  error: unknown,
  { dir, env }: { dir: string; env: Readonly<Record<string, string>> },
): Promise<string | null> {
  return findDamage(dir) ?? (isPossibleDamage(error) ? findDeepDamage(dir, env) : null)
}

/**
 * A damaged repository makes a measurement fail as any failure of the machine does. Such a report is not recorded: once
 * the repository is fetched again, the order is measured again.
 */
export async function refuseDamagedCache(
  repository: { dir: string },
  env: Readonly<Record<string, string>>,
  report: Report,
): Promise<Report> {
  if (report.runner_error === null) return report
  const error = new Error(report.runner_error)
  const damage = await findDamageCause(error, { dir: repository.dir, env })
  if (damage !== null) throw error
  return report
}

/**
 * Puts a damaged repository aside, so that a new one is made and fetched. Only commits of programs' answers exist
 * nowhere else: the returned function brings them into the new repository and says what became of them.
 */
export function replaceDamaged(
  { dataDir, env, say }: RepositoryCache,
  damage: string | null,
): (() => Promise<void>) | null {
  const dir = getRepositoryDir(dataDir)
  const found = damage ?? findDamage(dir)
  if (found === null) return null
  const aside = moveDamagedAside(dir)
  return async () => {
    say(
      `winnow's copy of the repository was damaged (${found}). winnow moved it to ${aside} and fetches it again. Orders under way, reports and unwritten events are kept in other files and stay.`,
    )
    const commits = await listAnswerCommits(dataDir)
    if (commits.length === 0) return
    const saved = await recoverCommits({ from: aside, to: dir, env, commits })
    const lost = commits.length - saved
    const left =
      lost === 0 ? '' : `; ${formatCount(lost, 'commit')} could not be read, and those ideas are lost`
    say(`${formatCount(saved, 'commit')} of ideas that are not recorded yet came along${left}.`)
  }
}

async function listAnswerCommits(dataDir: string): Promise<Oid[]> {
  const campaigns = join(dataDir, 'campaigns')
  const all = await Promise.all(
    listNames(campaigns).map(name => listStoredCommits(join(campaigns, name, ANSWERS))),
  )
  return all.flat()
}
