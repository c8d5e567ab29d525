"""Five applications, each a few seconds of work: what they need in a folder, and the command that runs them there.

javac compiles the JDK's jdk.jdeps module; H2 fills a database in memory and queries it; FOP makes a PDF of a book; Clojure
counts words and sieves primes with its own collections; Saxon transforms a catalogue. All of it is Debian's
(fetch_applications.sh) but for the inputs, which are made here and are the same each time.
"""
import os
import pathlib
import random
import tempfile
import zipfile

HEAP = ["-Xms512m", "-Xmx1g", "-XX:+UseG1GC"]


class Application:
    def __init__(self, prepare, command):
        self.prepare = prepare  # (jdk, folder): puts its input there, once
        self.command = command  # (jdk, java_options, folder): the command line


def fetched():
    return pathlib.Path(os.environ.get("HEAPREC_APPLICATIONS", pathlib.Path.home() / ".cache/heaprec/applications"))


def class_path(*jars):
    """Of what was fetched, or else of what the machine already had."""
    found = []
    for jar in jars:
        places = [root / "share/java" / f"{jar}.jar" for root in (fetched() / "usr", pathlib.Path("/usr"))]
        there = next((place for place in places if place.exists()), None)
        if there is None:
            raise SystemExit(f"no {jar}.jar in {' or '.join(str(place.parent) for place in places)}: "
                             "run bench/cost/fetch_applications.sh")
        found.append(str(there))
    return ":".join(found)


def java(jdk, options, *rest):
    return [jdk / "bin/java", *HEAP, *options, *rest]


def words(generator, count):
    return " ".join("".join(generator.choices("abcdefghijklmnopqrstuvwxyz", k=generator.randint(2, 10))) for _ in range(count))


def unpack_module(jdk, module, folder):
    homes = [pathlib.Path(jdk), pathlib.Path("/usr/lib/jvm/openjdk-17"), fetched() / "usr/lib/jvm/openjdk-17"]
    places = [path for home in homes for path in (home / "lib/src.zip", home / "src.zip") if path.exists()]
    if not places:
        raise SystemExit("no src.zip of the JDK: run bench/cost/fetch_applications.sh")
    with zipfile.ZipFile(places[0]) as sources:
        sources.extractall(folder / "src", [name for name in sources.namelist() if name.startswith(module + "/")])


def compile_module(jdk, module, options, folder):
    """The command; `options` are the compiling JVM's."""
    # A folder of its own: what has been compiled there before would not be compiled again.
    classes = tempfile.mkdtemp(prefix="classes-", dir=folder)
    return [jdk / "bin/javac", *(f"-J{option}" for option in options), "-nowarn", "-XDignore.symbol.file", "-proc:none", "-d",
            classes, "--module-source-path", folder / "src", "--module", module]


def prepare_javac(jdk, folder, module="jdk.jdeps"):
    unpack_module(jdk, module, folder)


def run_javac(jdk, options, folder, module="jdk.jdeps"):
    return compile_module(jdk, module, [*HEAP, *options], folder)


H2_SCRIPT = """
CREATE TABLE person(id INT PRIMARY KEY, name VARCHAR, town INT, born DATE);
CREATE INDEX by_town ON person(town);
INSERT INTO person SELECT x, 'person ' || x || ' ' || HASH('MD5', x), MOD(x * 7919, 1000), DATEADD('DAY', MOD(x, 20000), DATE '1950-01-01')
  FROM SYSTEM_RANGE(1, 60000);
CREATE TABLE visit(id INT PRIMARY KEY, person INT, cost DECIMAL(10, 2));
INSERT INTO visit SELECT x, MOD(x * 104729, 60000) + 1, MOD(x, 977) / 7.0 FROM SYSTEM_RANGE(1, 120000);
CREATE INDEX by_person ON visit(person);
"""
H2_QUERIES = """
SELECT p.town, COUNT(*), SUM(v.cost), MAX(p.name) FROM person p JOIN visit v ON v.person = p.id
  WHERE MOD(p.id, {k}) = 0 GROUP BY p.town ORDER BY 3 DESC LIMIT 10;
UPDATE person SET name = UPPER(name) || '{k}' WHERE town BETWEEN {k} * 10 AND {k} * 10 + 40;
SELECT YEAR(born), COUNT(DISTINCT SUBSTRING(name, 10, 4)) FROM person WHERE name LIKE '%{k}%' GROUP BY YEAR(born);
"""


def prepare_h2(_, folder, rounds=1):
    queries = "".join(H2_QUERIES.format(k=k) for k in range(2, 12)) * rounds
    (folder / "script.sql").write_text(H2_SCRIPT + queries)


def run_h2(jdk, options, folder):
    return java(jdk, options, "-cp", class_path("h2"), "org.h2.tools.RunScript", "-url", "jdbc:h2:mem:bench", "-user", "sa",
                "-script", folder / "script.sql")


FO_BOOK = """<?xml version="1.0"?>
<fo:root xmlns:fo="http://www.w3.org/1999/XSL/Format"><fo:layout-master-set>
<fo:simple-page-master master-name="page" page-height="29.7cm" page-width="21cm" margin="2cm"><fo:region-body/>
</fo:simple-page-master></fo:layout-master-set><fo:page-sequence master-reference="page"><fo:flow flow-name="xsl-region-body">
{chapters}</fo:flow></fo:page-sequence></fo:root>"""
FO_ROW = "<fo:table-row>{cells}</fo:table-row>"
FO_CELL = "<fo:table-cell border='0.5pt solid black' padding='2pt'><fo:block font-size='8pt'>{text}</fo:block></fo:table-cell>"


def prepare_fop(_, folder, length=45):
    generator = random.Random(1)
    chapters = []
    for chapter in range(length):
        chapters.append(f"<fo:block font-size='18pt' font-weight='bold' break-before='page'>Chapter {chapter}</fo:block>")
        for _ in range(12):
            chapters.append(f"<fo:block text-align='justify' space-after='6pt'>{words(generator, 120)}</fo:block>")
        rows = "".join(FO_ROW.format(cells="".join(FO_CELL.format(text=words(generator, 3)) for _ in range(5))) for _ in range(20))
        chapters.append(f"<fo:table table-layout='fixed' width='100%'><fo:table-body>{rows}</fo:table-body></fo:table>")
    (folder / "book.fo").write_text(FO_BOOK.format(chapters="\n".join(chapters)))


def run_fop(jdk, options, folder):
    jars = class_path("fop", "batik-all", "xmlgraphics-commons", "fontbox2", "xercesImpl", "xml-apis", "xml-apis-ext",
                      "commons-io", "commons-logging")
    return java(jdk, options, "-Djava.awt.headless=true", "-cp", jars, "org.apache.fop.cli.Main", "-q", "-fo",
                folder / "book.fo", "-pdf", folder / "book.pdf")


CLOJURE_SCRIPT = """
(require '[clojure.string :as string])
(defn words [seed] (map #(str "w" (mod (* % 7919 seed) 5003)) (range 40000)))
(defn primes [n] (loop [candidates (vec (range 2 n)) found []]
  (if-let [p (first candidates)]
    (if (> (* p p) n) (into found candidates) (recur (filterv #(pos? (mod % p)) candidates) (conj found p))) found)))
(println (reduce + (for [seed (range 1 25)] (count (sort-by val > (frequencies (map string/upper-case (words seed))))))))
(println (reduce + (for [k (range 10)] (count (primes (+ 60000 k))))))
(println (count (reduce (fn [tree k] (assoc-in tree [(mod k 31) (mod k 1009) k] (str k))) {} (range 200000))))
"""


def prepare_clojure(_, folder):
    (folder / "script.clj").write_text(CLOJURE_SCRIPT)


def run_clojure(jdk, options, folder):
    return java(jdk, options, "-cp", class_path("clojure-1.11", "spec.alpha", "core.specs.alpha"), "clojure.main",
                folder / "script.clj")


XSLT = """<xsl:stylesheet version="2.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:key name="by-author" match="book" use="author"/>
<xsl:template match="/catalogue"><report>
  <xsl:for-each-group select="book" group-by="author"><xsl:sort select="current-grouping-key()"/>
    <author name="{current-grouping-key()}" books="{count(key('by-author', current-grouping-key()))}"
      words="{sum(for $b in current-group() return count(tokenize($b/text, ' ')))}">
      <xsl:for-each select="current-group()"><xsl:sort select="number(@price)" order="descending"/>
        <xsl:apply-templates select="."/></xsl:for-each></author></xsl:for-each-group></report></xsl:template>
<xsl:template match="book"><title><xsl:value-of select="upper-case(title)"/>: <xsl:value-of
  select="string-join(distinct-values(tokenize(replace(text, '[aeiou]', '_'), ' ')), ',')"/></title></xsl:template>
</xsl:stylesheet>"""


def prepare_saxon(_, folder, length=20000):
    generator = random.Random(2)
    books = (f"<book price='{generator.uniform(1, 99):.2f}'><author>{words(generator, 1)[:2]}</author>"
             f"<title>{words(generator, 5)}</title><text>{words(generator, 60)}</text></book>" for _ in range(length))
    (folder / "catalogue.xml").write_text(f"<catalogue>{''.join(books)}</catalogue>")
    (folder / "report.xsl").write_text(XSLT)


def run_saxon(jdk, options, folder):
    return java(jdk, options, "-cp", class_path("Saxon-HE"), "net.sf.saxon.Transform", f"-s:{folder / 'catalogue.xml'}",
                f"-xsl:{folder / 'report.xsl'}", f"-o:{folder / 'report.xml'}")


APPLICATIONS = {
    "javac": Application(prepare_javac, run_javac),
    "H2": Application(prepare_h2, run_h2),
    "FOP": Application(prepare_fop, run_fop),
    "Clojure": Application(prepare_clojure, run_clojure),
    "Saxon": Application(prepare_saxon, run_saxon),
}
