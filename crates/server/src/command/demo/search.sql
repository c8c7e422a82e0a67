-- The packages that apt knows on this machine: names, sections, summaries and descriptions, tens of thousands of short documents.

DROP SCHEMA IF EXISTS demo CASCADE;

CREATE SCHEMA demo;

COMMENT ON SCHEMA demo IS 'made by stoa demo';

CREATE TABLE demo.packages (name text PRIMARY KEY, section text, kilobytes bigint, summary text, description text);

\load packages

-- A full text index over two columns: words of English, without those that say nothing, reduced to their stems.

CREATE INDEX packages_text ON demo.packages USING fulltext (summary, description) WITH (tokenizer = 'english');

-- A search box: any of the words, those that have more and rarer ones first, and a piece of the text that shows why.

SELECT name, round(score(p)::numeric, 2) AS score, snippet(summary, 90, '*', '*') AS why
FROM demo.packages p
WHERE MATCH(summary, description) AGAINST ('astronomy telescope control')
ORDER BY score(p) DESC LIMIT 5;

-- The index gives the best five: nothing else is read.

EXPLAIN SELECT name, score(p) FROM demo.packages p
WHERE MATCH(summary, description) AGAINST ('astronomy telescope control') ORDER BY score(p) DESC LIMIT 5;

-- Facets: a phrase, without a word, by section.

SELECT section, count(*) FROM demo.packages
WHERE MATCH(summary, description) AGAINST ('+"command line" -python')
GROUP BY section ORDER BY count(*) DESC LIMIT 5;

-- What is written is found at once, by whoever may see it. Words need not be spelled well: quantm~1 is one letter away.

BEGIN;

INSERT INTO demo.packages VALUES ('qubits', 'science', 1, 'simulates quantum computers', 'Runs circuits of some qubits.');

SELECT name, summary FROM demo.packages WHERE MATCH(summary) AGAINST ('+quantm~1 +comput*') ORDER BY name;

ROLLBACK;

SELECT count(*) FROM demo.packages WHERE MATCH(summary) AGAINST ('+quantm~1 +comput*');
