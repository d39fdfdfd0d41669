import { buildReleaseKey, type PackageAddition, type ReleaseDates } from '../../src/model/approval.ts'
import { hashSha256, toCanonicalJson } from '../../src/model/canonical-json.ts'

export const LEFT_PAD: PackageAddition = {
  ecosystem: 'npm',
  name: 'left-pad',
  version: '1.3.0',
  source: 'https://registry.npmjs.org/',
  integrity: 'sha512-x',
  direct: true,
  scripts: false,
  licence: 'WTFPL',
  path: 'package-lock.json',
}

/** Packages a candidate adds, as facts about it have them. */
export function adding(...packages: PackageAddition[]) {
  return {
    packages,
    digest: hashSha256(toCanonicalJson(packages)),
    files: new Map<string, readonly string[]>(),
  }
}

/** As registries would tell when these were published. */
export function published(at: string | null, ...packages: PackageAddition[]): ReleaseDates {
  const date = at === null ? null : { at, by: 'hash' as const }
  return new Map(packages.map(each => [buildReleaseKey(each), date]))
}

export const NO_ADDITIONS = adding()
