import { z } from 'zod'
import type { PackageEntry } from '../addition.ts'
import { type Field, splitFields } from '../fields.ts'
import { type ManifestFormat, matchNames, type ManifestReading } from '../format.ts'
import { parseYamlTree } from '../yaml-text.ts'
import { listOverrides, listRangePackages } from './package-json.ts'

const ranges = z.record(z.string(), z.string())

export const pnpmWorkspace: ManifestFormat = {
  ecosystem: 'npm',
  kind: 'manifest',
  holds: matchNames('pnpm-workspace.yaml'),
  read: readPnpmWorkspace,
}

function readPnpmWorkspace(text: string): ManifestReading {
  const { fields, rest } = splitFields(parseYamlTree(text), ['catalog', 'catalogs.*', 'overrides'])
  return { packages: fields.flatMap(parsePnpmWorkspaceField), rest }
}

function parsePnpmWorkspaceField({ path: [place], value }: Field): PackageEntry[] {
  const wanted = ranges.parse(value)
  return place === 'overrides' ? listOverrides(wanted, []) : listRangePackages(wanted)
}
