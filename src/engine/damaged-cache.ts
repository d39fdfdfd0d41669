import { join } from 'node:path'
import { plural } from '../decide/wording.ts'
import { findDamage, findDeepDamage, mayComeFromDamage } from '../git/damage.ts'
import { putAside } from '../git/put-aside.ts'
import { salvageCommits } from '../git/salvage.ts'
import { namesIn } from '../measure/names-in.ts'
import type { Oid } from '../model/ids.ts'
import type { Report } from '../model/report.ts'
import { commitsOfAnswers } from '../propose/stored-answer.ts'

/** winnow's own repository, which is a cache: the remote, or the user's repository, has all that was pushed. */
export interface RepositoryCache {
  /** Where everything of one user's repository is kept, its campaigns included. */
  dataDir: string
  env: Readonly<Record<string, string>>
  say: (line: string) => void
}

export function repositoryIn(dataDir: string): string {
  return join(dataDir, 'repository.git')
}

/** Where programs' answers of a campaign are kept until they are recorded. */
export const ANSWERS = 'proposals'

/** Finds the damaged part of the repository after a failure; null where the failure has another cause. */
export async function damageBehind(
  error: unknown,
  { dir, env }: { dir: string; env: Readonly<Record<string, string>> },
): Promise<string | null> {
  return findDamage(dir) ?? (mayComeFromDamage(error) ? findDeepDamage(dir, env) : null)
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
  const damage = await damageBehind(error, { dir: repository.dir, env })
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
  const dir = repositoryIn(dataDir)
  const found = damage ?? findDamage(dir)
  if (found === null) return null
  const aside = putAside(dir)
  return async () => {
    say(
      `winnow's copy of the repository was damaged (${found}). winnow moved it to ${aside} and fetches it again. Orders under way, reports and unwritten events are kept in other files and stay.`,
    )
    const commits = await answeredCommits(dataDir)
    if (commits.length === 0) return
    const saved = await salvageCommits({ from: aside, to: dir, env, commits })
    const lost = commits.length - saved
    const left = lost === 0 ? '' : `; ${plural(lost, 'commit')} could not be read, and those ideas are lost`
    say(`${plural(saved, 'commit')} of ideas that are not recorded yet came along${left}.`)
  }
}

async function answeredCommits(dataDir: string): Promise<Oid[]> {
  const campaigns = join(dataDir, 'campaigns')
  const all = await Promise.all(
    namesIn(campaigns).map(name => commitsOfAnswers(join(campaigns, name, ANSWERS))),
  )
  return all.flat()
}
