import { describe, expect, test } from 'vitest'
import { additionsOf, changeOf, faultOf } from './fixture.ts'

describe('pom.xml', () => {
  const base = `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>app</artifactId>
  <version>1</version>
  <properties><sum.version>1.4</sum.version></properties>
  <dependencies>
    <dependency><groupId>org.acme</groupId><artifactId>sum</artifactId><version>\${sum.version}</version></dependency>
  </dependencies>
</project>
`
  const evil =
    '<dependency><groupId>org.acme</groupId><artifactId>evil</artifactId><version>1</version></dependency>'
  const withEvil = (dependency: string) => base.replace('<dependencies>', `<dependencies>${dependency}`)

  test.each([
    [withEvil(evil), 'org.acme:evil 1 registry'],
    [withEvil(evil.replace('<version>1</version>', '')), 'org.acme:evil * registry'],
    [
      withEvil(evil.replace('1</version>', '1</version><scope>test</scope><type>pom</type>')),
      'org.acme:evil 1 (scope test, type pom) registry',
    ],
    [
      withEvil(evil.replace('1</version>', '1</version><systemPath>/evil.jar</systemPath>')),
      'org.acme:evil 1 path /evil.jar',
    ],
    [withEvil(evil.replace('>1<', '>1<!-- 2 -->.<![CDATA[3]]><')), 'org.acme:evil 1.3 registry'],
    [
      base.replace(
        '</project>',
        `<dependencyManagement><dependencies>${evil}</dependencies></dependencyManagement></project>`,
      ),
      'org.acme:evil 1 registry',
    ],
    [base.replace('${sum.version}', '1.5'), 'org.acme:sum 1.5 registry'],
  ])('an addition: %#', (candidate, addition) => {
    expect(additionsOf('pom.xml', base, candidate)).toEqual([addition])
  })

  test('exclusions are part of the request', () => {
    const exclusion =
      '<exclusions><exclusion><groupId>a</groupId><artifactId>b</artifactId></exclusion></exclusions>'
    const [found] = additionsOf(
      'pom.xml',
      base,
      base.replace('</version></dependency>', `</version>${exclusion}</dependency>`),
    )
    expect(found).toContain('exclusion groupId a artifactId b')
  })

  test.each([
    ['build', base.replace('</project>', '<build><plugins/></build></project>')],
    ['properties', base.replace('>1.4<', '>1.5<')],
    ['repositories', base.replace('</project>', '<repositories/></project>')],
    ['parent', base.replace('</project>', '<parent/></project>')],
    ['modules', base.replace('</project>', '<modules/></project>')],
    [
      'profiles',
      base.replace(
        '</project>',
        `<profiles><profile><id>a</id><dependencies>${evil}</dependencies></profile></profiles></project>`,
      ),
    ],
    ['project', base.replace('maven.apache.org', 'example.org')],
  ])('a changed %s is out of scope', (place, candidate) => {
    expect(faultOf('pom.xml', base, candidate)).toContain(`changes ${place}: only dependencies`)
  })

  test.each([
    [
      'a document type',
      base.replace('<project', '<!DOCTYPE project [<!ENTITY a "b">]>\n<project'),
      'document type',
    ],
    ['an instruction', base.replace('<project', '<?evil x?><project'), 'processing instructions'],
    ['another encoding', base.replace('UTF-8', 'UTF-7'), 'not in UTF-8'],
    [
      'a version twice',
      withEvil(evil.replace('1</version>', '1</version><version>2</version>')),
      'two version',
    ],
    ['an attribute', withEvil(evil.replace('<version>', '<version a="b">')), 'attributes on version'],
    ['no name', withEvil('<dependency><version>1</version></dependency>'), 'without a name'],
    ['a name of parts', withEvil(evil.replace('>evil<', '>${x}<')), 'names a package'],
    ['a conflict', `<<<<<<< HEAD\n${base}`, 'is no XML'],
    ['an open element', base.replace('</project>', ''), 'is no XML'],
    ['another document', '<metadata/>', 'is about metadata'],
  ])('%s cannot be approved', (_, candidate, why) => {
    expect(faultOf('pom.xml', base, candidate)).toContain(why)
  })
})

describe.each(['build.gradle', 'build.gradle.kts'])('%s', path => {
  const base = `plugins {
    id("java")
}

dependencies {
    implementation("org.acme:sum:1.4")
}
`
  const withLine = (line: string) => base.replace('dependencies {\n', `dependencies {\n    ${line}\n`)

  test.each([
    ['implementation("org.acme:evil:1")', 'org.acme:evil 1 (implementation) registry'],
    [
      "testImplementation 'org.acme:evil:1:all@zip'",
      'org.acme:evil 1 (classifier all@zip, testImplementation) registry',
    ],
    ['implementation platform("org.acme:evil:1")', 'org.acme:evil 1 (implementation, platform) registry'],
    ["api(enforcedPlatform('org.acme:evil:1'))", 'org.acme:evil 1 (api, enforcedPlatform) registry'],
    ['annotationProcessor "org.acme:evil"', 'org.acme:evil * (annotationProcessor) registry'],
  ])('%s is an addition', (line, addition) => {
    expect(additionsOf(path, base, withLine(line))).toEqual([addition])
  })

  test.each([
    'println "org.acme:evil:1"',
    'implementation(libs.evil)',
    'implementation("org.acme:evil:$version")',
    'implementation("org.acme:evil:1") { transitive = true }',
    'implementation("org.acme:evil:1"); evil()',
    'implementation files("evil.jar")',
    'implementation project(":evil")',
    '// a comment',
  ])('%s is a change of the program', line => {
    expect(faultOf(path, base, withLine(line))).toContain('changes the program')
  })

  test('a dependency in another place is a change of the program', () => {
    expect(faultOf(path, base, `${base}implementation("org.acme:evil:1")\n`)).toContain('changes the program')
    expect(
      faultOf(path, base, base.replace('id("java")', 'id("java")\n implementation("org.acme:evil:1")')),
    ).toContain('program')
  })

  test('with multi-line texts every line belongs to the program', () => {
    const odd = `${base}val x = """\n"""\n`
    expect(faultOf(path, odd, odd.replace('1.4', '1.5'))).toContain('changes the program')
  })
})

describe('libs.versions.toml', () => {
  const base = `[versions]
sum = "1.4"
java = "21"
build = "8"

[libraries]
sum = { module = "org.acme:sum", version.ref = "sum" }
built = { module = "org.acme:built", version.ref = "build" }

[plugins]
build = { id = "org.acme.build", version.ref = "build" }
`
  test.each([
    ['sum = "1.4"', 'sum = "1.5"', 'org.acme:sum 1.5 (as sum) registry'],
    ['[libraries]', '[libraries]\nevil = "org.acme:evil:1"', 'org.acme:evil 1 (as evil) registry'],
    [
      '[libraries]',
      '[libraries]\nevil = { group = "org.acme", name = "evil" }',
      'org.acme:evil * (as evil) registry',
    ],
    ['"org.acme:sum"', '"org.acme:evil"', 'org.acme:evil 1.4 (as sum) registry'],
  ])('%j made %j is an addition', (from, to, addition) => {
    expect(additionsOf('gradle/libs.versions.toml', base, base.replace(from, to))).toEqual([addition])
  })

  test.each([
    ['versions.java', 'java = "21"', 'java = "22"'],
    ['versions.build', 'build = "8"', 'build = "9"'],
    ['plugins.build', 'org.acme.build', 'org.acme.evil'],
    ['bundles.all', '[plugins]', '[bundles]\nall = ["sum"]\n[plugins]'],
  ])('a changed %s is out of scope', (place, from, to) => {
    expect(faultOf('gradle/libs.versions.toml', base, base.replace(from, to))).toContain(
      `changes ${place}: only`,
    )
  })

  test.each(['evil', 'constructor'])(
    'a reference to %s, a version that does not exist, cannot be approved',
    name => {
      expect(faultOf('libs.versions.toml', base, base.replace('"sum" }', `"${name}" }`))).toContain(
        `names no version "${name}"`,
      )
    },
  )
})

describe('gradle.lockfile', () => {
  const lock = '# a comment\norg.acme:sum:1.4=compileClasspath,runtimeClasspath\nempty=annotationProcessor\n'

  test('has every module', () => {
    expect(additionsOf('gradle.lockfile', null, lock)).toEqual(['org.acme:sum 1.4 registry'])
    expect(changeOf('gradle.lockfile', lock, lock.replace('1.4', '1.5'))).toMatchObject({
      additions: [{ version: '1.5', direct: null }],
      removals: 1,
    })
  })

  test.each(['org.acme:evil', '<<<<<<< HEAD', 'org.acme:evil:1'])('%s cannot be approved', line => {
    expect(faultOf('gradle.lockfile', lock, `${lock}${line}\n`)).toContain(
      'a line that gradle does not write',
    )
  })
})
