import type { PackageAddition } from '../model/approval.ts'
import { formatPackage, formatPackages } from '../model/approval.ts'
import { isOldEnough } from '../model/release.ts'
import type { Spec } from '../spec/schema.ts'

type DependencyRules = Spec['dependencies']

/**
 * Names that nobody has allowed yet: the spec approves what registries have under a name, in whatever version. From an
 * address, a commit or a path it is something else that calls itself so.
 */
export function listUnlistedPackages(
  { approved }: Pick<DependencyRules, 'approved'>,
  additions: readonly Pick<PackageAddition, 'name' | 'ecosystem' | 'source' | 'path'>[],
): string[] {
  const unknown = additions.filter(each => !approved.includes(each.name) || !isRegistryPackage(each))
  return [...new Set(unknown.map(({ name }) => name))]
}

const LOCKFILE_NAME = /(?:lock|sum|shrinkwrap)[^/]*$/i
const REGISTRY_INDEX = /^(?:(?:sparse\+)?https?:\/\/[^\s#]+|[\w.-]+)$/
const PACKAGE_ARCHIVE = /\.(?:tgz|tar|tar\.\w+|zip|whl|jar|gem|crate|git)$/i

/** A lockfile tells the registry's own address; in a manifest every address is another source. */
function isRegistryPackage({
  ecosystem,
  source,
  path,
}: Pick<PackageAddition, 'ecosystem' | 'source' | 'path'>): boolean {
  if (/^registry\b/.test(source)) return true
  if (!LOCKFILE_NAME.test(path)) return false
  // Composer's lockfile names an archive for every package, whoever told of it.
  if (ecosystem === 'packagist') return true
  const place = source.replace(/, installed as .*$/, '')
  return REGISTRY_INDEX.test(place) && !PACKAGE_ARCHIVE.test(place)
}

/**
 * Names that the spec approves, and that are out for too short a time to be believed unseen: whoever takes a
 * package over publishes under its name. Of unknown age is not old enough,
 * and neither is a range, which may come to something newer tomorrow.
 */
export function listTooYoungPackages(
  { min_release_age_days: days }: Pick<DependencyRules, 'min_release_age_days'>,
  additions: readonly PackageAddition[],
  now: string,
): string[] {
  const young = additions.filter(
    ({ released, released_by }) => !isOldEnough(released, days, now) || (days > 0 && released_by === 'range'),
  )
  return [...new Set(young.map(({ name }) => name))]
}

/** What no approval can let in, as the spec has it; null where a person may be asked. */
export function findRefusedAddition(
  rules: DependencyRules,
  additions: readonly PackageAddition[],
): { code: 'dependencies'; message: string; about: PackageAddition } | null {
  const names = listUnlistedPackages(rules, additions)
  const unknown = additions.filter(each => names.includes(each.name))
  const [first] = unknown
  if (first !== undefined && rules.approval === 'deny') {
    const message = `adds ${formatPackages(names, additions)}, and dependencies.approval is deny`
    return { code: 'dependencies', message, about: first }
  }
  const scripted = rules.allow_scripts ? undefined : unknown.find(each => each.scripts === true)
  if (scripted === undefined) return null
  const message = `adds ${formatPackage(scripted)}, which runs install scripts: set dependencies.allow_scripts to have it reviewed, or name it in dependencies.approved`
  return { code: 'dependencies', message, about: scripted }
}
