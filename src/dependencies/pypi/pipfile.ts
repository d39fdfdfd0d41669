import { splitFields } from '../fields.ts'
import { type Format, named, type Reading } from '../format.ts'
import { parseTomlTree } from '../toml-text.ts'
import { poetryPackages } from './poetry-request.ts'

export const pipfile: Format = {
  ecosystem: 'pypi',
  kind: 'manifest',
  holds: named('pipfile'),
  read: readPipfile,
}

function readPipfile(text: string): Reading {
  const { fields, rest } = splitFields(parseTomlTree(text), ['packages', 'dev-packages'])
  return { packages: fields.flatMap(({ value }) => poetryPackages(value)), rest }
}
