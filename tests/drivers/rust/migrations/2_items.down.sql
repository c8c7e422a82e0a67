DROP VIEW belongings;
DROP TABLE part, item;
DELETE FROM person;
