-- What each has spent.
SELECT p.name, count(i.id) AS "items!", sum(i.price) AS total, max(i.title) AS "last?"
FROM person p LEFT JOIN item i ON i.owner = p.id
GROUP BY p.name
HAVING count(i.id) >= $1
ORDER BY p.name
