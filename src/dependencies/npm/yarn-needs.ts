import type { PackageEntry } from '../addition.ts'
import type { InstalledPackage } from '../format.ts'

/** What one entry of a yarn.lock installs, by who asks for it, and what that needs itself. */
export interface YarnInstall {
  found: readonly { descriptor: string; package: PackageEntry }[]
  /** Each need, in every way its descriptor may be written. */
  wanted: readonly (readonly string[])[]
}

/**
 * Yarn resolves by descriptors: `name@range` of who needs it is the place of what that comes to. Where there is no
 * such place the project's resolutions put something else there, and which one the file does not say.
 */
export function collectYarnInstalls(entries: readonly YarnInstall[]): Map<string, InstalledPackage> {
  const descriptors = entries.flatMap(({ found }) => found.map(({ descriptor }) => descriptor))
  const places = new Set(descriptors)
  const patched = findYarnPatches(descriptors)
  function placesOf(wanted: YarnInstall['wanted']): string[] | null {
    const needs: string[] = []
    for (const spellings of wanted) {
      const place = spellings.find(each => places.has(each))
      if (place === undefined) return null
      needs.push(place, ...(patched.get(place) ?? []))
    }
    return needs
  }
  const installed = new Map<string, InstalledPackage>()
  for (const { found, wanted } of entries) {
    const needs = placesOf(wanted)
    for (const { descriptor, package: each } of found) {
      const origin = getPatchOrigin(descriptor)
      const all = origin === null ? needs : placesOf([...wanted, listDescriptorSpellings(origin)])
      installed.set(descriptor, { package: each, needs: all })
    }
  }
  return installed
}

/** Who asks for a package that yarn patches gets the patched one, and its files come from the other. */
function findYarnPatches(descriptors: readonly string[]): Map<string, string[]> {
  const patches = new Map<string, string[]>()
  for (const descriptor of descriptors) {
    const origin = getPatchOrigin(descriptor)
    for (const spelling of origin === null ? [] : listDescriptorSpellings(origin)) {
      const others = patches.get(spelling)
      if (others === undefined) patches.set(spelling, [descriptor])
      else others.push(descriptor)
    }
  }
  return patches
}

/** `a@patch:a@npm%3A^1.0.0#./a.patch` is made of `a@npm:^1.0.0`. */
function getPatchOrigin(descriptor: string): string | null {
  const source = /^@?[^@]+@patch:(?<source>[^#]+)/.exec(descriptor)?.groups?.['source']
  return (
    source?.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))) ?? null
  )
}

/** A range without a protocol is one of the registry's, which newer versions of yarn write out. */
export function listDescriptorSpellings(descriptor: string): string[] {
  const at = descriptor.indexOf('@', 1)
  return [descriptor, `${descriptor.slice(0, at)}@npm:${descriptor.slice(at + 1)}`]
}
