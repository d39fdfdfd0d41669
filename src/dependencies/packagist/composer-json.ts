import { z } from 'zod'
import { buildRequestedPackage } from '../addition.ts'
import { splitFields } from '../fields.ts'
import { type ManifestFormat, matchNames, type ManifestReading } from '../format.ts'
import { parseJsonTree } from '../json-text.ts'

const KINDS = ['require', 'require-dev']
const requests = z.record(z.string(), z.string())

export const composerJson: ManifestFormat = {
  ecosystem: 'packagist',
  kind: 'manifest',
  holds: matchNames('composer.json'),
  read: readComposerJson,
}

/** `php` and `ext-json` are of the machine, not packages: who asks for another machine changes more than packages. */
function readComposerJson(text: string): ManifestReading {
  const tree = parseJsonTree(text)
  const { fields, rest } = splitFields(tree, KINDS)
  const wanted = fields.flatMap(({ path: [kind], value }) =>
    Object.entries(requests.parse(value)).map(([name, version]) => ({ kind, name, version })),
  )
  const platform = wanted.filter(({ name }) => !name.includes('/'))
  return {
    packages: wanted
      .filter(({ name }) => name.includes('/'))
      .map(({ name, version }) => buildRequestedPackage({ name: name.toLowerCase(), version })),
    rest: new Map([
      ...rest,
      ...platform.map(({ kind, name, version }) => [`${kind}.${name}`, version] as const),
    ]),
  }
}
