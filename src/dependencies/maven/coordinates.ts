import { buildRequestedPackage, type PackageEntry } from '../addition.ts'

/** `group:artifact:version`, and what else was said about it. */
export function toMavenPackage(coordinates: string, notes: readonly string[]): PackageEntry {
  const [group = '', artifact = '', version = '*', ...more] = coordinates.split(':')
  const all = [...more.map(each => `classifier ${each}`), ...notes]
  return { ...buildRequestedPackage({ name: `${group}:${artifact}`, version, notes: all }), scripts: false }
}
