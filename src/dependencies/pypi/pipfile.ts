import { splitFields } from '../fields.ts'
import { type ManifestFormat, matchNames, type ManifestReading } from '../format.ts'
import { parseTomlTree } from '../toml-text.ts'
import { parsePoetryPackages } from './poetry-request.ts'

export const pipfile: ManifestFormat = {
  ecosystem: 'pypi',
  kind: 'manifest',
  holds: matchNames('pipfile'),
  read: readPipfile,
}

function readPipfile(text: string): ManifestReading {
  const { fields, rest } = splitFields(parseTomlTree(text), ['packages', 'dev-packages'])
  return { packages: fields.flatMap(({ value }) => parsePoetryPackages(value)), rest }
}
