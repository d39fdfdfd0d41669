import type { Ecosystem } from './addition.ts'

/** What each registry lets a package be called: a name outside it is no name, or one that looks like another. */
const NAMES: Readonly<Record<Ecosystem, RegExp>> = {
  npm: /^(?:@[\w~][\w.~-]*\/)?[\w~][\w.~-]*$/,
  pypi: /^[a-z\d](?:[a-z\d-]*[a-z\d])?$/,
  cargo: /^[A-Za-z_][\w-]*$/,
  go: /^[A-Za-z\d][\w.~-]*(?:\/[\w~-][\w.~-]*)*$/,
  rubygems: /^[A-Za-z\d_][\w.-]*$/,
  packagist: /^[a-z\d][\w.-]*\/[a-z\d][\w.-]*$/i,
  maven: /^[\w.-]+:[\w.-]+$/,
  nuget: /^\w[\w.-]*$/,
}

export function isPackageName(ecosystem: Ecosystem, name: string): boolean {
  return name.length <= 255 && NAMES[ecosystem].test(name)
}
