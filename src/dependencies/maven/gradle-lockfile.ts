import { type Format, named, type Reading, Unreadable } from '../format.ts'
import { requested } from './coordinates.ts'

const LINE = /^(?<coordinates>[^:=\s]+:[^:=\s]+:[^:=\s]+)=[\w,$.-]*$/

export const gradleLockfile: Format = {
  ecosystem: 'maven',
  kind: 'lockfile',
  holds: named('gradle.lockfile', 'buildscript-gradle.lockfile'),
  read: readGradleLockfile,
}

function readGradleLockfile(text: string): Reading {
  const lines = text
    .split(/\r\n?|\n/)
    .filter(line => line !== '' && !line.startsWith('#') && !line.startsWith('empty='))
  const packages = lines.map(line => {
    const coordinates = LINE.exec(line)?.groups?.['coordinates']
    if (coordinates === undefined)
      throw new Unreadable(`has a line that gradle does not write: ${JSON.stringify(line.slice(0, 80))}`)
    return { ...requested(coordinates, []), direct: null }
  })
  return { packages, rest: new Map() }
}
