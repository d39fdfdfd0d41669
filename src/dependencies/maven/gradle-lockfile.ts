import { type ManifestFormat, matchNames, type ManifestReading, Unreadable } from '../format.ts'
import { toMavenPackage } from './coordinates.ts'

const GRADLE_LOCK_LINE = /^(?<coordinates>[^:=\s]+:[^:=\s]+:[^:=\s]+)=[\w,$.-]*$/

export const gradleLockfile: ManifestFormat = {
  ecosystem: 'maven',
  kind: 'lockfile',
  holds: matchNames('gradle.lockfile', 'buildscript-gradle.lockfile'),
  read: readGradleLockfile,
}

function readGradleLockfile(text: string): ManifestReading {
  const lines = text
    .split(/\r\n?|\n/)
    .filter(line => line !== '' && !line.startsWith('#') && !line.startsWith('empty='))
  const packages = lines.map(line => {
    const coordinates = GRADLE_LOCK_LINE.exec(line)?.groups?.['coordinates']
    if (coordinates === undefined)
      throw new Unreadable(`has a line that gradle does not write: ${JSON.stringify(line.slice(0, 80))}`)
    return { ...toMavenPackage(coordinates, []), direct: null }
  })
  return { packages, rest: new Map() }
}
