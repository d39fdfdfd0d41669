import { askedFor, type Package } from '../addition.ts'

/** `group:artifact:version`, and what else was said about it. */
export function requested(coordinates: string, notes: readonly string[]): Package {
  const [group = '', artifact = '', version = '*', ...more] = coordinates.split(':')
  const all = [...more.map(each => `classifier ${each}`), ...notes]
  return { ...askedFor({ name: `${group}:${artifact}`, version, notes: all }), scripts: false }
}
