import { detectProject } from '../../src/init/detect.ts'
import {
  createProjectFiles,
  type Findings,
  narrowToDirectory,
  type ProjectFiles,
  type ProjectLocation,
  selectPathsToRead,
} from '../../src/init/project.ts'

export type Files = Readonly<Record<string, string | object>>

/** Files as they are committed; objects are written as JSON. Only what detection asks for can be read. */
export function repositoryOf(files: Files): ProjectFiles {
  const texts = Object.entries(files).map(([path, content]): [string, string] => [
    path,
    typeof content === 'string' ? content : JSON.stringify(content),
  ])
  const paths = texts.map(([path]) => path)
  const read = new Set(selectPathsToRead(paths))
  return createProjectFiles(paths, new Map(texts.filter(([path]) => read.has(path))))
}

export function toRepository(files: Files, directory = ''): ProjectLocation {
  const repository = repositoryOf(files)
  return { repository, directory, files: narrowToDirectory(repository, directory) }
}

export function found(files: Files, directory = ''): Findings {
  return detectProject(toRepository(files, directory), undefined).findings
}

/** The three commands that matter most, null where there is none. */
export function commandsIn(files: Files, directory = ''): Record<'setup' | 'test' | 'bench', string | null> {
  const { setup, test, bench } = found(files, directory)
  return { setup: setup?.command ?? null, test: test?.command ?? null, bench: bench?.command ?? null }
}
