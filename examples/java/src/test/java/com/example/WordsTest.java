package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Collections;
import org.junit.jupiter.api.Test;

class WordsTest {
    /** The same work in each run, so that runs can be compared. */
    @Test
    void countsEachWord() {
        String text = String.join(" ", Collections.nCopies(250, "to be or not"));
        for (int i = 0; i < 1000; ++i) assertEquals(250, Words.count(text).get("be"));
    }
}
