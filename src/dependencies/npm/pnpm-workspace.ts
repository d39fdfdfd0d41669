import { z } from 'zod'
import type { Package } from '../addition.ts'
import { type Field, splitFields } from '../fields.ts'
import { type Format, named, type Reading } from '../format.ts'
import { parseYamlTree } from '../yaml-text.ts'
import { overridden, rangesOf } from './package-json.ts'

const ranges = z.record(z.string(), z.string())

export const pnpmWorkspace: Format = {
  ecosystem: 'npm',
  kind: 'manifest',
  holds: named('pnpm-workspace.yaml'),
  read: readPnpmWorkspace,
}

function readPnpmWorkspace(text: string): Reading {
  const { fields, rest } = splitFields(parseYamlTree(text), ['catalog', 'catalogs.*', 'overrides'])
  return { packages: fields.flatMap(packagesOf), rest }
}

function packagesOf({ path: [place], value }: Field): Package[] {
  const wanted = ranges.parse(value)
  return place === 'overrides' ? overridden(wanted, []) : rangesOf(wanted)
}
